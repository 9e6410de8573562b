// The map of the house as data: which room may enter which. A room is a folder under src/, entered by its door only
// (src/quota/quota.ts); the kernel is a tool chest, open in every drawer.
const rooms = {
  kernel: '',
  db: 'kernel',
  redis: 'kernel',
  bell: 'kernel db',
  telemetry: 'kernel',
  vendors: 'kernel',
  quota: 'kernel db redis vendors',
  calls: 'kernel vendors quota',
  work: 'kernel db vendors quota',
  accounts: 'kernel db vendors quota calls',
  events: 'kernel db bell',
  activities: 'kernel db vendors events',
  shape: 'kernel',
  streams: 'kernel db bell vendors quota calls work accounts events activities shape',
  sleep: 'kernel db bell vendors quota calls accounts events activities',
  imports: 'kernel db bell vendors quota calls work accounts events activities sleep',
  processing: 'kernel db bell vendors quota calls accounts events activities streams shape imports',
  inbox: 'kernel db bell vendors quota calls accounts events activities imports streams processing sleep',
  gate: 'kernel redis',
  stremio: 'kernel gate calls',
  simulator: 'kernel',
}
const everyDoor = Object.keys(rooms).join(' ')

export type RoomTable = Readonly<Record<string, readonly string[]>>

export const MAY_ENTER: RoomTable = Object.fromEntries(
  Object.entries({ ...rooms, http: everyDoor, cli: `${everyDoor} http` }).map(([room, names]) => [
    room,
    names.split(' ').filter(name => name !== ''),
  ]),
)

export const OPEN_ROOM = 'kernel'

/** Files of no room: they wire, configure and start, and enter everything. */
export const WIRING: readonly string[] = [
  'src/engine.ts',
  'src/rooms.ts',
  'src/demo.ts',
  'src/config.ts',
  'src/doctor.ts',
  'src/servers.ts',
  'src/schedules.ts',
  'src/roles.ts',
  'src/main.ts',
]

/** The terminal starts the whole. */
export const WIRING_ENTERED_BY: readonly string[] = ['cli']

/** Folders that are the inside of a wiring file. */
export const WIRING_FOLDERS: readonly string[] = ['src/config/']

/** Packages that only these rooms may import; the first pattern that fits rules. The kernel imports none at all. */
export const PACKAGES: readonly { readonly name: RegExp; readonly rooms: readonly string[] }[] = [
  { name: /^@opentelemetry\/api$/, rooms: ['http', 'events', 'sleep', 'calls', 'telemetry'] },
  { name: /^@opentelemetry\//, rooms: ['telemetry'] },
]
