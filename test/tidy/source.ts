// The project's own files, and their text with what is not code blanked out: comments, and the insides of strings, templates and
// regular expressions. Blanks keep every offset and line, so that a finding can say where it is. It knows just enough of
// the language for that; where a slash could be a division or begin a regular expression it looks at what stands before.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

export const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** Every file that git does not ignore, as a path from the root; binary ones are left out. */
export function projectFiles(): string[] {
  const ignored = read('.gitignore')
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(
      line =>
        new RegExp(
          `^${line
            .replaceAll(/^\/|\/$/g, '')
            .replaceAll('.', '\\.')
            .replaceAll('*', '[^/]*')}$`,
        ),
    )
  const walk = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap(entry => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.name === '.git' || ignored.some(pattern => pattern.test(entry.name) || pattern.test(path))) return []
      if (entry.isDirectory()) return walk(path)
      return entry.isFile() && !read(path).includes('\0') ? [path] : []
    })
  return walk('').toSorted()
}

export const isTest = (file: string): boolean => /^test\/|\.test\.tsx?$/.test(file)
export const isCode = (file: string): boolean => /\.(?:tsx?|mjs|sql|lua|css)$/.test(file)
/** The sources without their tests. */
export const isSource = (file: string): boolean => /^src\/.*\.ts$/.test(file) && !isTest(file)

interface Span {
  readonly kind: 'comment' | 'literal'
  readonly from: number
  readonly to: number
}

const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y
const STRING = /'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"/y
const TEMPLATE_PART = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{|$)/y
const REGULAR = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\//y
const PLAIN = /[^/'"`{}]+/y
const BEFORE_REGULAR = /(?:^|[(,=:[!&|?{};+\-*%~^<>]|\b(?:return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield))$/

function spansOf(text: string): Span[] {
  const spans: Span[] = []
  const match = (pattern: RegExp, at: number): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0]
  }
  /** From a backtick's far side to the end of its template. */
  const template = (from: number): number => {
    for (let at = from; ;) {
      const part = match(TEMPLATE_PART, at) ?? ''
      const isOpen = part.endsWith('${')
      spans.push({ kind: 'literal', from: at, to: at + part.length - (isOpen ? 2 : 1) })
      at += part.length
      if (!isOpen) return at
      at = code(at, true) + 1
    }
  }
  /** To the end or, within a template, to the brace that closes its expression. */
  const code = (from: number, inTemplate: boolean): number => {
    let before = ''
    let depth = 0
    for (let at = from; at < text.length;) {
      const comment = match(COMMENT, at)
      const literal = match(STRING, at) ?? (BEFORE_REGULAR.test(before) ? match(REGULAR, at) : undefined)
      if (inTemplate && depth === 0 && text[at] === '}') return at
      if (comment !== undefined) {
        spans.push({ kind: 'comment', from: at, to: at + comment.length })
        at += comment.length
      } else if (literal !== undefined) {
        spans.push({ kind: 'literal', from: at + 1, to: at + literal.length - 1 })
        at += literal.length
        before = 'literal'
      } else if (text[at] === '`') {
        at = template(at + 1)
        before = 'literal'
      } else {
        const plain = match(PLAIN, at) ?? text.charAt(at)
        depth += { '{': 1, '}': -1 }[plain] ?? 0
        before = `${before}${plain}`.trimEnd().slice(-12)
        at += plain.length
      }
    }
    return text.length
  }
  code(0, false)
  return spans
}

const blanked = (text: string, kinds: readonly Span['kind'][]): string => {
  let result = ''
  let at = 0
  for (const { from, to } of spansOf(text).filter(span => kinds.includes(span.kind))) {
    result += text.slice(at, from) + text.slice(from, to).replaceAll(/[^\n]/g, ' ')
    at = to
  }
  return result + text.slice(at)
}

/** Only what runs. */
export const codeOf = (text: string): string => blanked(text, ['comment', 'literal'])

export const withoutComments = (text: string): string => blanked(text, ['comment'])

export const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length
