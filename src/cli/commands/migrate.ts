import type { Command } from '../arguments.ts'
import { storedHome } from '../home.ts'

export const migrateCommand: Command = {
  name: 'migrate',
  summary: "Updates the store to this version's schema; `up` does it by itself.",
  words: '',
  fewestWords: 0,
  mostWords: 0,
  options: {},
  run: async (input, context) => {
    const config = context.loadConfig()
    const { folder, demo } = storedHome(config)
    const engine = await context.openEngine(config, { folder, demo, speed: undefined, roles: [], quiet: true })
    const { migrated } = engine
    await engine.close()
    if (input.json) return context.terminal.line(JSON.stringify({ migrated }), 0)
    return context.terminal.line(migrated.length === 0 ? 'The store is up to date.' : `Applied: ${migrated.join(', ')}.`, 0)
  },
}
