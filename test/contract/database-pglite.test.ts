import { databaseContract } from './database.contract.ts'
import { openMemory } from '../stores.ts'

databaseContract('pglite', openMemory, {
  endsSlowStatements: 'PGlite ignores statement_timeout; it runs in this process, where nothing can interrupt it',
  advisoryLocksExclude: 'PGlite has one session, which already holds every lock; transactions exclude one another instead',
})
