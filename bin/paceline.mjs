#!/usr/bin/env node
// `paceline` on whatever Node the machine has: finds the one Paceline runs on and hands over, so that the caller sees one
// program (its output, its signals, its exit code). In a clone where nothing is installed yet it installs first. Everything
// else is src/main.ts.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { pinnedNode, root } from '../scripts/pinned-node.mjs'

const MAIN = join(root, 'src', 'main.ts')

function handOver(node) {
  const child = spawn(node, [MAIN, ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.once('error', error => {
    console.error(`Paceline did not start: ${error.message}`)
    process.exitCode = 1
  })
  child.once('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal]
    if (signal === null) return
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

function install() {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'setup.mjs')], { stdio: ['ignore', 2, 2] })
  if (status !== 0) process.exit(1)
}

if (!existsSync(join(root, 'node_modules')) || pinnedNode() === undefined) install()
const node = pinnedNode()
if (node === process.execPath) await import(pathToFileURL(MAIN).href)
else handOver(node)
