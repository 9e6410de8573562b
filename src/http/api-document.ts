// The OpenAPI document, made from the routes' schemas.
import { STATUS_CODES } from 'node:http'
import type { FastifyDynamicSwaggerOptions, SwaggerTransformObject } from '@fastify/swagger'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { SESSION_COOKIE } from './identity.ts'

export const apiDocument = (version: string): FastifyDynamicSwaggerOptions => ({
  openapi: {
    openapi: '3.1.1',
    info: {
      title: 'Paceline',
      version,
      description: "Brings athletes' data in from vendors that ration their APIs.",
    },
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            "An athlete's API token, or one of the installation's. The operator names the athlete in X-Paceline-Athlete.",
        },
        cookie: {
          type: 'apiKey',
          in: 'cookie',
          name: SESSION_COOKIE,
          description: 'From a sign-in link. Requests other than GET must carry X-Paceline: 1.',
        },
      },
    },
  },
  transform: jsonSchemaTransform,
  transformObject,
})

type Document = ReturnType<SwaggerTransformObject>

const transformObject: SwaggerTransformObject = given => {
  const document = jsonSchemaTransformObject(given)
  describeAnswers(document)
  return withoutUnused(document)
}

/** The generator lists every named shape twice, as input and as output; those that nothing refers to are left out. */
function withoutUnused(document: Document): Document {
  const text = JSON.stringify(document)
  const components = 'components' in document ? document.components : {}
  const used = Object.entries(components?.schemas ?? {}).filter(([name]) => text.includes(`"#/components/schemas/${name}"`))
  return { ...document, components: { ...components, schemas: Object.fromEntries(used) } } as Document
}

/** OpenAPI wants a sentence for every answer; where the route gives none, the status says what it means. */
function describeAnswers({ paths = {} }: Document): void {
  for (const operation of Object.values(paths).flatMap(path => Object.values(path ?? {}))) {
    const { responses } = operation as { responses: Record<string, { description: string }> }
    for (const [status, answer] of Object.entries(responses)) {
      if (answer.description === 'Default Response') answer.description = STATUS_CODES[status] ?? status
    }
  }
}
