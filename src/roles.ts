// What a process can do. One process does all of it on the embedded store; on PostgreSQL they may be several.
export const ROLES = ['api', 'worker', 'normalize', 'scheduler'] as const
export type Role = (typeof ROLES)[number]
