// A vendor's published specification, and whether an answer fits the schema of its route. Swagger 2.0 and OpenAPI 3.0 are read
// leniently, as their authors meant them: `nullable` beside a `$ref`, undefined formats, keywords of their own.
import { readFileSync } from 'node:fs'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormatsModule from 'ajv-formats'

// The package is CommonJS: under ESM its plugin is the default's default.
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default

export interface Mismatch {
  /** With array positions replaced by `*`, so that one kind of difference is one line. */
  readonly at: string
  readonly keyword: string
  readonly says: string
}

export interface VendorSpec {
  /** Undefined: the specification has no such route or gives its answer no schema. */
  check(method: string, path: string, status: number, body: unknown): readonly Mismatch[] | undefined
  hasRoute(method: string, path: string): boolean
}

type Json = Record<string, unknown>

export function readSpec(file: string): VendorSpec {
  const spec = relaxed(JSON.parse(readFileSync(file, 'utf8'))) as Json
  const ajv = new Ajv({ strict: false, allErrors: true, logger: false })
  addFormats(ajv)
  ajv.addSchema(spec, 'spec')
  const compiled = new Map<string, ValidateFunction>()
  const routes = new Map(Object.entries(spec['paths'] as Record<string, Json>).map(([path, methods]) => [shapeOf(path), methods]))
  const validatorFor = (method: string, path: string, status: number): ValidateFunction | undefined => {
    const key = `${method} ${path} ${status}`
    const operation = routes.get(shapeOf(path))?.[method.toLowerCase()] as Json | undefined
    const schema = schemaIn((operation?.['responses'] as Json | undefined)?.[String(status)] as Json | undefined)
    if (schema === undefined) return undefined
    const known = compiled.get(key) ?? ajv.compile(absolute(schema) as Json)
    compiled.set(key, known)
    return known
  }
  return {
    hasRoute: (method, path) => routes.get(shapeOf(path))?.[method.toLowerCase()] !== undefined,
    check: (method, path, status, body) => {
      const validate = validatorFor(method, path, status)
      if (validate === undefined) return undefined
      return validate(body) ? [] : (validate.errors ?? []).map(mismatchOf)
    },
  }
}

const shapeOf = (path: string): string => path.replaceAll(/\{[^}]*\}/g, '{}')

/** Swagger 2.0 has the schema in the response, OpenAPI 3.0 below its content. */
function schemaIn(response: Json | undefined): Json | undefined {
  const content = (response?.['content'] as Json | undefined)?.['application/json'] as Json | undefined
  const schema = (content?.['schema'] ?? response?.['schema']) as Json | undefined
  // Oura: whole documents or, when fields were picked, any dictionary. Nobody picks fields here, so the first must fit.
  const [whole] = (schema?.['anyOf'] as Json[] | undefined) ?? []
  return whole ?? schema
}

/** `nullable` works beside a type only; beside anything else it becomes a choice. */
function relaxed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(relaxed)
  if (typeof node !== 'object' || node === null) return node
  const { nullable, ...rest } = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, relaxed(value)]))
  if (rest['format'] === 'uuid4') rest['format'] = 'uuid'
  return nullable === true ? { anyOf: [rest, { type: 'null' }] } : rest
}

/** The schema stands alone; what it refers to stays in the whole specification. */
function absolute(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(absolute)
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string' && value.startsWith('#') ? `spec${value}` : absolute(value),
    ]),
  )
}

const mismatchOf = ({ instancePath, keyword, message, params }: ErrorObject): Mismatch => ({
  at: instancePath.replaceAll(/\/\d+(?=\/|$)/g, '/*') || '/',
  keyword,
  says: `${message ?? keyword} ${JSON.stringify(params)}`,
})
