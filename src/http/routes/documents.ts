// What a person or a program reads to find its way: the first page, the API's documents, the style and icon of the pages.
import { apiPage, type ApiDocument } from '../api-page.ts'
import type { App, HttpParts } from '../app.ts'
import { ICON_PATH, icon, page, STYLE_PATH, style } from '../pages.ts'

const config = { audience: 'anyone' } as const
/** These describe the API; they are not part of it. */
const schema = { hide: true }

export function documentRoutes(app: App, { demo, version }: HttpParts): void {
  app.get('/openapi.json', { config, schema }, () => app.swagger())
  const texts: Readonly<Record<string, { readonly type: string; readonly text: () => string }>> = {
    '/': { type: 'text/html', text: () => firstPage(version, demo) },
    '/docs': { type: 'text/html', text: () => apiPage(app.swagger() as ApiDocument) },
    [STYLE_PATH]: { type: 'text/css', text: () => style },
    [ICON_PATH]: { type: 'image/svg+xml', text: () => icon },
  }
  for (const [path, { type, text }] of Object.entries(texts)) {
    app.get(path, { config, schema }, async (_, reply) => await reply.type(`${type}; charset=utf-8`).send(text()))
  }
}

const firstPage = (version: string, demo: boolean): string =>
  page('Paceline', [
    demo
      ? '<p><span class="label">Demo</span> A sample athlete on time that runs sixty times as fast, in a folder of its own.</p>'
      : '',
    `<p>Version ${version} is running.</p>`,
    '<ul><li><a href="/docs">The API</a>, for people</li><li><a href="/openapi.json">The API</a>, for programs</li><li><a href="/readyz">Whether everything it needs is there</a></li><li><a href="/metrics">Its figures</a></li></ul>',
  ])
