// The roles of a process. On the embedded store one process has all of them; on PostgreSQL several processes may share them.
export const ROLES = ['api', 'worker', 'normalize', 'scheduler'] as const
export type Role = (typeof ROLES)[number]
