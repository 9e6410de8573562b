// How commands on this machine find the running server, whatever its port and public URL: while it listens, `up` keeps its pid and local
// address in a file of the data folder. client.ts checks whether that server answers.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { hasCode } from '../kernel/errors.ts'

export const SERVER_FILE = 'server.json'

/** A pid of 0 or below would mean a group of processes. */
const announced = z.object({ pid: z.int().positive(), url: z.string() })

/** Gives a function that withdraws the announcement. */
export function announce(folder: string, url: string): () => void {
  const file = join(folder, SERVER_FILE)
  // Renamed into place, so that a command that reads it meanwhile finds a whole file or none.
  writeFileSync(`${file}.${process.pid}`, `${JSON.stringify({ pid: process.pid, url })}\n`, { mode: 0o600 })
  renameSync(`${file}.${process.pid}`, file)
  return () => {
    // On PostgreSQL a second server may have started on the same folder; then the file belongs to it.
    if (read(file)?.pid === process.pid) rmSync(file)
  }
}

/** The address of the server that announced itself here, if its process is alive. */
export function announcedIn(folder: string): string | undefined {
  const found = read(join(folder, SERVER_FILE))
  return found !== undefined && isAlive(found.pid) ? found.url : undefined
}

function read(file: string): z.infer<typeof announced> | undefined {
  try {
    return announced.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data
  } catch (error) {
    if (hasCode(error, 'ENOENT') || error instanceof SyntaxError) return undefined
    throw error
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // The process is alive and belongs to another user.
    if (hasCode(error, 'EPERM')) return true
    if (hasCode(error, 'ESRCH')) return false
    throw error
  }
}
