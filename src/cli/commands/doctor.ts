import type { Finding } from '../../http/http.ts'
import type { Command } from '../arguments.ts'
import { connectRunning, good } from '../client.ts'
import { hasCode } from '../../kernel/errors.ts'
import { storedHome } from '../home.ts'
import type { CliContext } from '../context.ts'

const MARKS = { ok: 'ok     ', warning: 'warning', error: 'ERROR  ' } as const

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Checks Node, the store, the servers and the credentials, and says what is wrong and what to do.',
  words: '',
  fewestWords: 0,
  mostWords: 0,
  options: {},
  run: async (input, context) => {
    const findings = await findingsOf(context)
    const exitCode = findings.some(finding => finding.level === 'error') ? 1 : 0
    if (input.json) return context.terminal.line(JSON.stringify(findings), exitCode)
    return context.terminal.line(findings.map(lineOf).join('\n'), exitCode)
  },
}

// A running server checks its own connections; without one they are opened here.
async function findingsOf(context: CliContext): Promise<readonly Finding[]> {
  const config = context.loadConfig()
  try {
    const client = await connectRunning(context, config)
    return good<{ items: Finding[] }>(await client.ask('GET', '/admin/doctor')).items
  } catch (error) {
    if (!hasCode(error, 'PACE_NOT_RUNNING')) throw error
    return await context.examine(config, storedHome(config).folder)
  }
}

const lineOf = ({ check, level, sentence, todo }: Finding): string =>
  [`${MARKS[level]}  ${check}: ${sentence}`, ...(todo === undefined ? [] : [`           ${todo}`])].join('\n')
