// How many cases a property or a storm tries: enough to find what is broken often at every run, many more in `npm run test:long`.

const isLong = process.env['PACELINE_TEST_LONG'] === '1'

export const runs = (usual: number, long: number): number => (isLong ? long : usual)
