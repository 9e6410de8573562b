// The readable form of the OpenAPI document: every operation with what it takes and what it answers.
import { escaped, page } from './pages.ts'

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
}
interface Body {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
  readonly description?: string
}
interface Operation {
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly security?: readonly unknown[]
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly schema?: Schema
    readonly description?: string
  }[]
  readonly requestBody?: Body
  readonly responses?: Readonly<Record<string, Body>>
}
export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

export function apiPage({ info, paths = {} }: ApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      tag: operation.tags?.[0] ?? 'other',
      html: operationHtml(method, path, operation),
    })),
  )
  const sections = Object.entries(Object.groupBy(operations, operation => operation.tag)).flatMap(([tag, members]) => [
    `<h2>${escaped(tag)}</h2>`,
    ...(members ?? []).map(member => member.html),
  ])
  return page(`${info.title} API`, [
    `<p class="note">Version ${escaped(info.version)} · <a href="/openapi.json">/openapi.json</a> says the same to programs (OpenAPI 3.1)</p>`,
    `<p>${escaped(info.description ?? '')} Send <code>Authorization: Bearer &lt;token&gt;</code>; errors are <code>{"error": "a sentence", "code": "PACE_…"}</code>.</p>`,
    ...sections,
  ])
}

function operationHtml(method: string, path: string, operation: Operation): string {
  const parameters = (operation.parameters ?? []).map(({ name, in: where, required, schema, description }) =>
    row(name, `${where}${required ? '' : ', optional'}`, `${shapeOf(schema)} ${escaped(description ?? '')}`),
  )
  const body = schemaOf(operation.requestBody)
  const answers = Object.entries(operation.responses ?? {}).map(([status, answer]) =>
    row(status, answer.description ?? '', shapeOf(schemaOf(answer))),
  )
  return [
    `<article><h3><span class="method">${escaped(method.toUpperCase())}</span> <code>${escaped(path)}</code></h3>`,
    `<p>${escaped(operation.summary ?? '')}${operation.security ? ' <span class="note">· needs a token</span>' : ''}</p>`,
    table('Takes', [...parameters, ...(body ? [row('body', '', shapeOf(body))] : [])]),
    table('Answers', answers),
    '</article>',
  ].join('\n')
}

const row = (name: string, note: string, html: string): string =>
  `<tr><td><code>${escaped(name)}</code> <span class="note">${escaped(note)}</span></td><td>${html}</td></tr>`

const table = (caption: string, rows: readonly string[]): string =>
  rows.length === 0 ? '' : `<table><caption>${caption}</caption>${rows.join('')}</table>`

const schemaOf = (body: Body | undefined): Schema | undefined => Object.values(body?.content ?? {})[0]?.schema

const shapeOf = (schema: Schema | undefined): string => (schema === undefined ? '' : `<code>${escaped(shape(schema))}</code>`)

function shape(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? schema.$ref
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map(value => JSON.stringify(value)).join(' | ')
  if (schema.anyOf !== undefined) return schema.anyOf.map(shape).join(' | ')
  if (schema.items !== undefined) return `[${shape(schema.items)}]`
  if (schema.properties !== undefined) return objectShape(schema.properties, schema.required ?? [])
  return schema.format ?? [schema.type ?? 'anything'].flat().join(' | ')
}

function objectShape(properties: Readonly<Record<string, Schema>>, required: readonly string[]): string {
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${name}${required.includes(name) ? '' : '?'}: ${shape(schema)}`,
  )
  return `{${fields.join(', ')}}`
}
