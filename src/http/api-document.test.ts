import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { apiPage, type ApiDocument } from './api-page.ts'
import { openHttp } from '../../test/http-fixture.ts'

const { app, routes, close } = await openHttp()
after(close)
const answer = await app.inject('/openapi.json')
const document = answer.json<ApiDocument & { components: { schemas: object } }>()
const operations = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, path, ...operation })),
)

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1', async () => {
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
    const validator = new Validator()
    const result = await validator.validate(answer.json<Parameters<Validator['validate']>[0]>())
    assert.deepEqual(result.errors ?? [], [])
    assert.equal(result.valid, true)
    assert.equal(validator.version, '3.1')
  })

  test('has every route, but for those that only describe it', () => {
    const shown = routes
      .filter(({ schema, method }) => schema?.hide !== true && method !== 'HEAD')
      .map(({ method, url }) => `${String(method)} ${url.replaceAll(/:(\w+)/g, '{$1}')}`)
    assert.deepEqual(operations.map(({ name }) => name).toSorted(), shown.toSorted())
    const hidden = routes.filter(({ schema, method }) => schema?.hide === true && method !== 'HEAD').map(({ url }) => url)
    assert.deepEqual(hidden.toSorted(), ['/', '/docs', '/favicon.ico', '/favicon.svg', '/openapi.json', '/paceline.css'])
  })

  for (const { name, path, summary, tags, parameters = [], responses = {}, security } of operations) {
    test(`says of ${name} what it does, takes and answers`, () => {
      assert.match(summary ?? '', /^[A-Z]/)
      assert.equal(tags?.length, 1)
      const inPath = parameters.filter(parameter => parameter.in === 'path')
      assert.deepEqual(
        inPath.map(parameter => `{${parameter.name}}`),
        path.match(/\{\w+\}/g) ?? [],
      )
      for (const parameter of inPath) assert.equal(parameter.required, true)

      const statuses = Object.keys(responses)
      assert(statuses.some(status => /^[23]/.test(status)))
      for (const { description } of Object.values(responses)) assert.notEqual(description, 'Default Response')
      for (const status of statuses.filter(each => /^[45]/.test(each)))
        assert.deepEqual(responses[status]?.content?.['application/json']?.schema, { $ref: '#/components/schemas/Error' })
      const isGuarded = /^\/(api\/)?v1\/|^\/admin\//.test(path)
      assert.equal(security !== undefined, isGuarded)
      assert.equal(statuses.includes('401') && statuses.includes('403'), isGuarded)
    })
  }

  test('names every shape once', () => {
    assert.deepEqual(Object.keys(document.components.schemas), ['Error'])
  })
})

describe('the page of the API', () => {
  test('shows every operation with its summary', async () => {
    const page = await app.inject('/docs')
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
    const text = page.body
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll(/\s+/g, ' ')
      .replaceAll('&#39;', "'")
    for (const { name, summary } of operations) {
      assert(text.includes(`${name} `), name)
      assert(text.includes(summary ?? name), summary)
    }
    assert.equal(page.body.split('<article').length - 1, operations.length)
  })

  test('shows whatever a description holds as text', () => {
    const evil = '<script>alert("1")</script>&'
    const schema = { type: 'object', properties: { [evil]: { enum: [evil] } }, required: [] }
    const body = { content: { 'application/json': { schema } }, description: evil }
    const parameters = [{ name: evil, in: evil, required: true, schema: { type: evil }, description: evil }]
    const operation = { summary: evil, tags: [evil], parameters, requestBody: body, responses: { [evil]: body } }
    const html = apiPage({ info: { title: evil, version: evil, description: evil }, paths: { [evil]: { [evil]: operation } } })
    assert.doesNotMatch(html, /<script|alert\("|&(?!\w+;)/i)
    assert.match(html, /&lt;script&gt;alert\(&quot;1&quot;\)&lt;\/script&gt;&amp;/)
  })
})
