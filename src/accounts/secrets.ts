// Secrets that the operator did not set are generated once and stored in the data folder, readable by its owner only. When several
// processes start on a new folder at once, the first file in place wins and all of them use it.
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { hasCode, PacelineError, reasonOf } from '../kernel/errors.ts'
import type { Random } from '../kernel/random.ts'

export interface Secrets {
  /** 32 bytes each; the first encrypts, all decrypt. */
  readonly keys: readonly Uint8Array[]
  readonly adminToken: string
  readonly ingestToken: string
}

const text = z.string().min(1)
const keptSecrets = z.object({ secretKey: text, adminToken: text, ingestToken: text })
type Kept = Readonly<z.infer<typeof keptSecrets>>

export const SECRETS_FILE = 'secrets.json'

interface GivenSecrets {
  readonly secretKeys?: readonly Uint8Array[] | undefined
  readonly adminToken?: string | undefined
  readonly ingestToken?: string | undefined
}

export function openSecrets(folder: string, given: GivenSecrets, random: Random): Secrets {
  const file = join(folder, SECRETS_FILE)
  const kept = read(file) ?? make(folder, file, random)
  return {
    keys: given.secretKeys ?? [Buffer.from(kept.secretKey, 'base64')],
    adminToken: given.adminToken ?? kept.adminToken,
    ingestToken: given.ingestToken ?? kept.ingestToken,
  }
}

function read(file: string): Kept | undefined {
  try {
    return keptIn(readFileSync(file, 'utf8'))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw new PacelineError('PACE_CONFIG', `The generated secrets in ${file} cannot be read: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}

function keptIn(json: string): Kept {
  const kept = keptSecrets.safeParse(JSON.parse(json))
  if (!kept.success) throw new Error('secretKey, adminToken and ingestToken must all be there')
  return kept.data
}

function make(folder: string, file: string, random: Random): Kept {
  const random64 = (bytes: number): string => Buffer.from(random.bytes(bytes)).toString('base64url')
  const made: Kept = {
    secretKey: Buffer.from(random.bytes(32)).toString('base64'),
    adminToken: `pace_admin_${random64(32)}`,
    ingestToken: `pace_ingest_${random64(32)}`,
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const own = `${file}.${process.pid}.${random64(4)}`
  writeFileSync(own, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600, flush: true })
  try {
    linkSync(own, file)
    syncFolder(folder)
    return made
  } catch (error) {
    const theirs = hasCode(error, 'EEXIST') ? read(file) : undefined
    if (theirs === undefined) throw error
    return theirs
  } finally {
    rmSync(own)
  }
}

// Without the sync of its folder a power cut could lose the new file, and with it the key of everything encrypted since. Windows cannot sync
// a folder; its journal does it.
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
