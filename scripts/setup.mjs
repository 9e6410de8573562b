// Makes node_modules what the lockfile says, before any other script runs: `npm ci` when the lockfile or the platform changed
// since the last time, otherwise nothing (a few milliseconds). Runs on Node 20 with nothing installed, so it is plain JavaScript.
// The servers that the tests need are left to servers.ts.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { OLDEST_NODE, pinnedNode, root } from './pinned-node.mjs'

const STAMP = join(root, 'node_modules', '.paceline-stamp')
// Outside node_modules, because `npm ci` empties that folder.
const LOCK = join(tmpdir(), `paceline-setup-${hash(root).slice(0, 16)}.lock`)

function hash(...parts) {
  const digest = createHash('sha256')
  for (const part of parts) digest.update(part).update('\0')
  return digest.digest('hex')
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

function stop(sentence) {
  console.error(sentence)
  process.exit(1)
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function takeLock() {
  // Linked into place, so that the lock is never seen without its pid.
  const mine = `${LOCK}.${process.pid}`
  writeFileSync(mine, String(process.pid))
  try {
    linkSync(mine, LOCK)
    process.once('exit', () => rmSync(LOCK, { force: true }))
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    const holder = readIfThere(LOCK)
    if (holder && !isAlive(Number(holder))) rmSync(LOCK, { force: true })
    return false
  } finally {
    rmSync(mine)
  }
}

function spawnNpm(args) {
  const options = { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] }
  const cli = process.env.npm_execpath
  // The Node that runs npm, not the one in node_modules that `npm ci` is about to delete.
  if (cli && basename(cli) === 'npm-cli.js')
    return spawn(process.env.npm_node_execpath ?? process.execPath, [cli, ...args], options)
  return spawn('npm', args, { ...options, shell: process.platform === 'win32' })
}

async function runNpm(...args) {
  const npm = spawnNpm(args)
  // npm outlives this process when only this one is killed, and a second npm in the same folder would break both.
  if (npm.pid !== undefined) writeFileSync(LOCK, String(npm.pid))
  const output = []
  npm.stdout.on('data', chunk => output.push(chunk))
  npm.stderr.on('data', chunk => output.push(chunk))
  const [code] = await once(npm, 'close')
  return { code, output: Buffer.concat(output).toString().trim() }
}

/** Whether npm itself put there what the lockfile names for this machine. */
function isInstalled(lockfile) {
  const hidden = readIfThere(join(root, 'node_modules', '.package-lock.json'))
  if (hidden === undefined) return false
  const present = JSON.parse(hidden).packages
  return Object.entries(JSON.parse(lockfile).packages).every(
    ([path, wanted]) =>
      path === '' || present[path]?.integrity === wanted.integrity || (!present[path] && isForElsewhere(wanted)),
  )
}

const isForElsewhere = ({ optional, os, cpu, libc }) =>
  optional && (libc || (os && !os.includes(process.platform)) || (cpu && !cpu.includes(process.arch)))

async function install() {
  console.error('Installing what package-lock.json names (only now, and when it changes) …')
  const since = Date.now()
  rmSync(STAMP, { force: true })
  // NODE_ENV=production must not leave a tree that the stamp calls complete; errors only, because Node 20 gets engine warnings.
  const { code, output } = await runNpm(
    'ci',
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  )
  if (code === 0) return console.error(`Installed in ${((Date.now() - since) / 1000).toFixed(1)} s.`)
  console.error(output)
  stop(`\`npm ci\` failed with exit code ${code}: the lines above say why; put it right and run the command again.`)
}

async function waitForOther() {
  const holder = readIfThere(LOCK)
  if (holder === undefined) return
  console.error(`Waiting for process ${holder}, which is installing here …`)
  while (readIfThere(LOCK) === holder && isAlive(Number(holder))) await sleep(200)
}

const lockfile = readFileSync(join(root, 'package-lock.json'), 'utf8')
const stamp = hash(lockfile, process.platform, process.arch)
while (readIfThere(STAMP) !== stamp) {
  if (!takeLock()) await waitForOther()
  else if (readIfThere(STAMP) !== stamp) {
    if (!isInstalled(lockfile)) await install()
    writeFileSync(STAMP, stamp)
  }
}
// npm skips an optional package without a word where it does not exist for the platform.
if (pinnedNode() === undefined) {
  stop(
    `Paceline runs on Node ${OLDEST_NODE} or newer, and npm has none for ${process.platform}-${process.arch}: install it from https://nodejs.org and run the command again.`,
  )
}
