// What a person or a program reads to find its way: the first page, the API's documents, the style and icon of the pages.
import { apiPage, type ApiDocument } from '../api-page.ts'
import type { App, HttpParts } from '../app.ts'
import { escaped, ICON_PATH, icon, page, STYLE_PATH, style } from '../pages.ts'

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
    // Browsers ask for it beside answers that are not our pages, such as /readyz.
    '/favicon.ico': { type: 'image/svg+xml', text: () => icon },
  }
  for (const [path, { type, text }] of Object.entries(texts)) {
    app.get(path, { config, schema }, async (_, reply) => await reply.type(`${type}; charset=utf-8`).send(text()))
  }
}

const LINKS = [
  { path: '/docs', name: 'The API', about: 'All routes, to read.' },
  { path: '/openapi.json', name: 'OpenAPI 3.1', about: 'The same for programs.' },
  { path: '/readyz', name: 'Readiness', about: 'Whether everything that Paceline needs answers.' },
  { path: '/metrics', name: 'Metrics', about: 'Figures for Prometheus.' },
]

const firstPage = (version: string, demo: boolean): string =>
  page('Up and running', [
    `<p class="note">Version ${escaped(version)}</p>`,
    demo
      ? '<p><span class="label">Demo</span> A sample athlete with simulated vendors. Time runs sixty times as fast; the data has its own folder.</p>'
      : '',
    '<ul class="cards">',
    ...LINKS.map(({ path, name, about }) => `<li><a href="${path}">${name}</a><p>${about}</p></li>`),
    '</ul>',
  ])
