// The lines that a new vendor changes in existing files, as docs/add-a-vendor.md tells: the line as it is, and what stands there afterwards.
export interface Edit {
  readonly file: string
  readonly line: string
  readonly becomes: readonly string[]
}

const after = (file: string, line: string, ...added: readonly string[]): Edit => ({ file, line, becomes: [line, ...added] })

const [FACTS, DOOR, SETTINGS] = ['src/vendors/facts.ts', 'src/vendors/vendors.ts', 'src/config/settings.ts']
const [ROWS, FIELDS, IMPORTERS] = [
  'src/activities/translation.ts',
  'src/activities/summary-fields.ts',
  'src/imports/importers.ts',
]
const [VENDOR_TEST, FUZZ_TEST, CONFIG_TEST] = ['src/vendors/vendors.test.ts', 'src/vendors/fuzz.test.ts', 'src/config.test.ts']

const vendor: readonly Edit[] = [
  {
    file: FACTS,
    line: "export const vendorNames = ['strava', 'garmin', 'oura', 'whoop', 'foursquare'] as const",
    becomes: ["export const vendorNames = ['strava', 'garmin', 'oura', 'whoop', 'foursquare', 'milepost'] as const"],
  },
  after(DOOR, "import { garmin } from './garmin/vendor.ts'", "import { milepost } from './milepost/vendor.ts'"),
  {
    file: DOOR,
    line: 'const all = { strava, garmin, oura, whoop, foursquare }',
    becomes: ['const all = { strava, garmin, oura, whoop, foursquare, milepost }'],
  },
  after(
    DOOR,
    "export type { FoursquareCheckin } from './foursquare/wire.ts'",
    "export { PER_PAGE as MILEPOST_PER_PAGE, type MilepostEndpoints } from './milepost/endpoints.ts'",
    "export type { MilepostWorkout } from './milepost/wire.ts'",
  ),
  after(SETTINGS, "  ...vendor('foursquare'),", "  ...vendor('milepost'),"),
]

const rows: readonly Edit[] = [
  after(ROWS, '  GarminActivity,', '  MilepostWorkout,'),
  after(ROWS, '  garmin: GarminActivity', '  milepost: MilepostWorkout'),
  after(
    ROWS,
    '  strava: activity => ({ ...stravaColumns(activity), summary: summaryPart(activity) }),',
    '  milepost: workout => ({',
    '    external_id: workout.id,',
    '    name: workout.name ?? null,',
    '    sport: workout.sport ?? null,',
    '    start_time: instant(Date.parse(workout.began)),',
    '    timezone: null,',
    '    elapsed_seconds: integer(workout.took),',
    '    moving_seconds: null,',
    '    distance_meters: workout.length ?? null,',
    '    manual: null,',
    '    photo_count: null,',
    '    summary: workout,',
    '  }),',
  ),
  after(
    FIELDS,
    "  garmin: [GARMIN_1, [...GARMIN_1, 'startTimeOffsetInSeconds']],",
    "  milepost: [['name', 'sport', 'began', 'took', 'length']],",
  ),
]

const importer: readonly Edit[] = [
  after(IMPORTERS, '  type GarminEndpoints,', '  type MilepostEndpoints,'),
  after(IMPORTERS, "import { garminImport } from './garmin-import.ts'", "import { milepostImport } from './milepost-import.ts'"),
  after(
    IMPORTERS,
    'export const importers: Readonly<Record<VendorName, VendorImports>> = {',
    '  milepost: {',
    '    ...ACTIVITIES,',
    '    isPolled: true,',
    '    isRelooked: false,',
    "    callClass: 'live',",
    '    run: by((endpoints: MilepostEndpoints, parts) => milepostImport({ ...parts, endpoints })),',
    '  },',
  ),
]

const tests: readonly Edit[] = [
  after(
    VENDOR_TEST,
    "  ['foursquare', 'users', 'token hour 500 unknown'],",
    "  ['milepost', 'app', 'app 15min 10 clock-quarter'],",
  ),
  after(
    VENDOR_TEST,
    "  ['foursquare', ['https://foursquare.com', 'https://api.foursquare.com']],",
    "  ['milepost', ['https://milepost.example']],",
  ),
  after(FUZZ_TEST, '  foursquare.endpoints.checkins(),', "  openVendor('milepost', OWN).endpoints.workouts({ page: 1 }),"),
  after(CONFIG_TEST, '    foursquare: {},', '    milepost: {},'),
  {
    file: CONFIG_TEST,
    line: "    ...['STRAVA', 'OURA', 'WHOOP', 'GARMIN', 'FOURSQUARE'].flatMap(prefix => vendor.map(name => `${prefix}_${name}`)),",
    becomes: [
      "    ...['STRAVA', 'OURA', 'WHOOP', 'GARMIN', 'FOURSQUARE', 'MILEPOST'].flatMap(prefix => vendor.map(name => `${prefix}_${name}`)),",
    ],
  },
]

export const edits: readonly Edit[] = [...vendor, ...rows, ...importer, ...tests]
