// The door. Knows what history has been fetched and what is owed, and fetches it: over hours or days, through pauses, restarts and
// failures. Laws:
// - one live import per athlete and vendor; asking again gives the one that runs;
// - rows and cursor commit together: what was answered and stored is not asked for again, whatever is killed when;
// - no request leaves during a pause; a pause ends by itself;
// - a connection's last sync moves when an import completes, to the import's start.
export { Imports, type ImportView, type ImportsParts, type Started } from './desk.ts'
export { importLifecycle, type ImportStatus } from './job-lifecycle.ts'
export { importsEraser } from './eraser.ts'
export type { ImportType } from './job-store.ts'
