// The few pages that the server writes itself, in plain HTML under a strict policy: no script, no inline style.
export const STYLE_PATH = '/paceline.css'
export const ICON_PATH = '/favicon.svg'

export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#10263d"/><path d="M4 20h6l3-9 5 14 4-11 2 6h4" fill="none" stroke="#5ad1a5" stroke-width="2.6" stroke-linejoin="round" stroke-linecap="round"/></svg>`

export const style = `:root { color-scheme: light dark; --line: light-dark(#d5dde5, #33414f); --soft: light-dark(#f3f6f9, #17212b); --accent: light-dark(#0b6e4f, #5ad1a5); }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.6rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; text-transform: capitalize; }
a { color: var(--accent); } code, pre { font: .875em/1.5 ui-monospace, monospace; background: var(--soft); border-radius: 4px; padding: .1em .35em; }
pre { padding: .75rem 1rem; overflow-x: auto; } article { border: 1px solid var(--line); border-radius: 8px; padding: .25rem 1.25rem .75rem; margin: 1rem 0; }
article h3 { font-size: 1rem; margin: .75rem 0 .25rem; } table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-top: 1px solid var(--line); }
.method { display: inline-block; min-width: 4.5rem; font-weight: 700; color: var(--accent); } .label { display: inline-block; background: var(--accent); color: Canvas; border-radius: 4px; padding: 0 .5rem; font-weight: 600; }
`

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, character => ESCAPES[character] ?? character)

export function page(title: string, body: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · Paceline</title>
<link rel="icon" href="${ICON_PATH}" type="image/svg+xml">
<link rel="stylesheet" href="${STYLE_PATH}">
</head>
<body>
<h1>${escaped(title)}</h1>
${body.join('\n')}
</body>
</html>
`
}
