// What the operator and the athletes make and list, and how lists come in pages.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { isId } from '../../kernel/ids.ts'
import { assertRefused, bearer, openHttp, tokenOf, type Headers } from '../../../test/http-fixture.ts'

const fixture = await openHttp({}, { isAlone: true })
const { app, accounts, as } = fixture
after(() => fixture.close())

interface Page {
  readonly items: { readonly id: string }[]
  readonly nextCursor: string | null
}

const list = async (url: string, headers: Headers): Promise<Page> => {
  const answer = await app.inject({ url, headers })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<Page>()
}

/** Follows the cursors from the first page to the end. */
async function pages(url: string, headers: Headers, limit: number): Promise<string[][]> {
  const found: string[][] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: Page = await list(`${url}?limit=${limit}${cursor && `&cursor=${cursor}`}`, headers)
    found.push(page.items.map(item => item.id))
    cursor = page.nextCursor
  }
  return found
}

describe('athletes', () => {
  test('are made, and listed as they were made', async () => {
    const payload = { name: ' Grace Hopper ', timezone: 'America/New_York', id: 'mine' }
    const made = await app.inject({ method: 'POST', url: '/admin/athletes', headers: as.operator, payload })
    assert.equal(made.statusCode, 201)
    const { id, ...rest } = made.json<{ id: string }>()
    assert(isId(id))
    assert.deepEqual(rest, { name: 'Grace Hopper', timezone: 'America/New_York' })
    assert.deepEqual((await list('/admin/athletes', as.operator)).items.at(-1), { id, ...rest })
  })

  test('get a token, shown once, and a link that works on the public URL', async () => {
    const { id: athleteId } = await accounts.createAthlete({ name: 'Alan', timezone: null })
    const make = async (what: string) =>
      await app.inject({ method: 'POST', url: `/admin/athletes/${athleteId}/${what}`, headers: as.operator })

    const made = (await make('tokens')).json<{ id: string; token: string }>()
    const { items } = await list('/v1/tokens', bearer(made.token))
    assert.deepEqual(items, [{ id: made.id, createdAt: '2026-01-01T00:00:00.000Z' }])

    const link = await make('sign-in-link')
    assert.equal(link.statusCode, 201)
    assert.match(link.json<{ url: string }>().url, /^http:\/\/paceline\.test\/sign-in\?token=[\w-]{43}$/)
  })
})

describe('a list', () => {
  test('comes in pages without a gap or a double, and its end is known without an empty page', async () => {
    const { id: athleteId } = await accounts.createAthlete({ name: 'Ada', timezone: null })
    const mine = bearer((await tokenOf(accounts, athleteId)).token)
    for (let count = 1; count < 6; count++) await tokenOf(accounts, athleteId)
    const whole = (await list('/v1/tokens', mine)).items.map(item => item.id)
    assert.equal(new Set(whole).size, 6)
    for (const [limit, sizes] of [
      [1, [1, 1, 1, 1, 1, 1]],
      [4, [4, 2]],
      [3, [3, 3]],
      [6, [6]],
      [200, [6]],
    ] as const) {
      const found = await pages('/v1/tokens', mine, limit)
      assert.deepEqual(
        found.map(page => page.length),
        sizes,
      )
      assert.deepEqual(found.flat(), whole)
    }
  })

  test('has 50 items at a time unless asked otherwise', async () => {
    for (let count = 0; count < 51; count++) await accounts.createAthlete({ name: `Athlete ${count}`, timezone: null })
    const { items, nextCursor } = await list('/admin/athletes', as.operator)
    assert.equal(items.length, 50)
    assert.equal(nextCursor, items[49]?.id)
  })

  test('that is empty is a list', async () => {
    const last = (await pages('/admin/athletes', as.operator, 200)).flat().at(-1)
    assert.deepEqual(await list(`/admin/athletes?cursor=${last}`, as.operator), { items: [], nextCursor: null })
  })

  for (const [query, field] of [
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['cursor=42', 'cursor'],
    ['cursor=', 'cursor'],
    ["cursor=' or 1=1--", 'cursor'],
  ] as const) {
    test(`asked for with ${query} is refused by the field's name`, async () => {
      const answer = await app.inject({ url: `/admin/athletes?${query}`, headers: as.operator })
      assert.match(String(assertRefused(answer, 400, 'PACE_BAD_REQUEST').details), new RegExp(`^${field}: `))
    })
  }
})
