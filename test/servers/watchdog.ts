// No test process hangs and none is left over: loaded into every file's process, and by global-setup.ts into the runner. Node's
// --test-timeout ends a test, but not a file whose tests are done and which left something open, nor what a killed parent left.
const FILE_LIMIT_MS = process.argv[1]?.includes('/test/long/') ? 60 * 60_000 : 4 * 60_000
const LOOK_MS = 1000

const parent = process.ppid
setInterval(() => {
  if (process.ppid !== parent) process.exit(1)
}, LOOK_MS).unref()

// The runner itself may take longer than any file.
if (process.env.NODE_TEST_CONTEXT !== undefined) setTimeout(giveUp, FILE_LIMIT_MS).unref()

function giveUp(): void {
  const open = process.getActiveResourcesInfo().join(', ')
  console.error(`${process.argv[1]} did not end in ${FILE_LIMIT_MS / 1000} s; still open: ${open}`)
  process.exit(1)
}
