// The few pages that the server writes itself, in plain HTML under a strict policy: no script, no inline style.
export const STYLE_PATH = '/paceline.css'
export const ICON_PATH = '/favicon.svg'

export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#10263d"/><path d="M4 20h6l3-9 5 14 4-11 2 6h4" fill="none" stroke="#5ad1a5" stroke-width="2.6" stroke-linejoin="round" stroke-linecap="round"/></svg>`

export const style = `:root {
  color-scheme: light dark;
  --line: light-dark(#d9e1e8, #2c3946);
  --soft: light-dark(#f2f5f8, #1a242e);
  --muted: light-dark(#566573, #9aa9b7);
  --accent: light-dark(#0b6e4f, #5ad1a5);
  background: light-dark(#ffffff, #10171e);
}
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 0 1.25rem 3rem; }
header { padding: 1rem 0; border-bottom: 1px solid var(--line); }
header a { display: inline-flex; align-items: center; gap: .6rem; font-weight: 700; color: inherit; text-decoration: none; }
h1 { font-size: 1.75rem; margin: 2rem 0 .5rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem; text-transform: capitalize; }
a { color: var(--accent); }
code { font: .875em/1.5 ui-monospace, monospace; background: var(--soft); border-radius: 4px; padding: .1em .35em; overflow-wrap: anywhere; }
.label { background: var(--accent); color: Canvas; border-radius: 4px; padding: .1em .5em; font-weight: 600; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); gap: 1rem; margin: 2rem 0; padding: 0; list-style: none; }
.cards li, article { border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.25rem; }
.cards a { font-weight: 600; }
.cards p, .note { color: var(--muted); margin: .25rem 0 0; }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.5rem 0; }
button { font: inherit; font-weight: 500; padding: .5rem 1rem; border: 1px solid var(--line); border-radius: 8px; background: var(--soft); color: inherit; cursor: pointer; overflow-wrap: anywhere; }
button.primary { background: var(--accent); border-color: var(--accent); color: Canvas; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
article { margin: 1rem 0; }
article h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
article p { margin: .5rem 0; }
.method { color: var(--accent); margin-right: .4rem; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
caption { text-align: left; font-size: .8rem; color: var(--muted); padding: .5rem 0 .2rem; }
td { vertical-align: top; padding: .35rem .75rem .35rem 0; border-top: 1px solid var(--line); }
td:first-child { width: 32%; }
`

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

export const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, character => ESCAPES[character] ?? character)

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
<header><a href="/"><img src="${ICON_PATH}" alt="" width="28" height="28">Paceline</a></header>
<main>
<h1>${escaped(title)}</h1>
${body.join('\n')}
</main>
</body>
</html>
`
}
