// CHANGELOG.md as text in, text out: what a release makes of its sections. Knows the form of Keep a Changelog and nothing about git.
// A section that names its version and says "not yet released" was written ahead: it is released first, with what came since.

export type ChangelogRelease =
  | {
      readonly outcome: 'released'
      readonly changelog: string
      /** What is in this version: the section without its heading. */
      readonly notes: string
    }
  | { readonly outcome: 'empty' }
  | { readonly outcome: 'misshapen' }

const UNRELEASED = '## [Unreleased]'
const WRITTEN_AHEAD = /^## \[(\d+\.\d+\.\d+)\] - not yet released$/

interface Section {
  readonly heading: string
  readonly body: string
}

/** The version whose section was written ahead, if there is one. */
export const writtenAhead = (changelog: string): string | undefined =>
  partsOf(changelog)
    .sections.map(({ heading }) => WRITTEN_AHEAD.exec(heading)?.[1])
    .find(version => version !== undefined)

/** `day` is YYYY-MM-DD. */
export function releaseIn(changelog: string, version: string, day: string): ChangelogRelease {
  const { head, sections } = partsOf(changelog)
  const [unreleased, ...older] = sections
  if (unreleased?.heading !== UNRELEASED) return { outcome: 'misshapen' }
  const ahead = older.find(({ heading }) => WRITTEN_AHEAD.exec(heading)?.[1] === version)
  const notes = merged(ahead?.body ?? '', unreleased.body)
  if (notes === '') return { outcome: 'empty' }
  const released = { heading: `## [${version}] - ${day}`, body: notes }
  const kept = older.filter(section => section !== ahead)
  const text = [head, UNRELEASED, ...[released, ...kept].map(({ heading, body }) => `${heading}\n\n${body}`.trimEnd())]
  return { outcome: 'released', changelog: `${text.join('\n\n')}\n`, notes }
}

function partsOf(changelog: string): { head: string; sections: readonly Section[] } {
  const [head = '', ...rest] = changelog.split(/^(?=## )/m)
  const sections = rest.map(text => {
    const [heading = '', ...lines] = text.split('\n')
    return { heading: heading.trimEnd(), body: lines.join('\n').trim() }
  })
  return { head: head.trimEnd(), sections }
}

/** Each group ("### Added") once: what came later follows what was there. What stands before the first group is one, too. */
function merged(first: string, later: string): string {
  const groups = new Map<string, string>()
  for (const text of [first, later].flatMap(body => body.split(/^(?=### )/m))) {
    const [, heading = '', body = ''] = /^(### .*\n?)?([\s\S]*)$/.exec(text) ?? []
    const known = groups.get(heading.trim())
    groups.set(heading.trim(), joined(known, body.trim()))
  }
  return [...groups]
    .filter(([, body]) => body !== '')
    .map(([heading, body]) => (heading === '' ? body : `${heading}\n\n${body}`))
    .join('\n\n')
}

/** Two lists become one list; other text stays apart. */
function joined(known: string | undefined, more: string): string {
  if (!known) return more
  if (more === '') return known
  return `${known}${more.startsWith('- ') ? '\n' : '\n\n'}${more}`
}
