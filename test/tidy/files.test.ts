// What no file of the project may hold. Patterns and samples are spelt so that they are not found in this file.
import { posix as path } from 'node:path'
import { prove } from './check.ts'
import { codeOf, isCode, isTest, lineAt, projectFiles } from './source.ts'

const MOST_LINES = 400

/** Each place in the text where the pattern is found, with what is wrong about it. */
const places = (file: string, text: string, pattern: RegExp, wrong: string): string[] =>
  [...text.matchAll(pattern)].map(found => `${file}:${lineAt(text, found.index)} ${wrong}`)

prove({
  promise: `no file is longer than ${MOST_LINES} lines`,
  covers: isCode,
  find: (file, text) => {
    const lines = text.split('\n').length - 1
    return lines > MOST_LINES ? [`${file} has ${lines} lines`] : []
  },
  samples: [
    { file: 'src/a.ts', text: 'a\n'.repeat(401), finds: ['src/a.ts has 401 lines'] },
    { file: 'src/a.ts', text: 'a\n'.repeat(400), finds: [] },
  ],
})

prove({
  promise: 'nothing is left to be done later',
  covers: file => file !== 'package-lock.json',
  find: (file, text) => places(file, text, /\b(?:TO[D]O|FIX[M]E|X[X]X)\b/g, 'leaves something for later'),
  samples: [
    { file: 'src/a.ts', text: 'a\n// \x54ODO: b', finds: ['src/a.ts:2 leaves something for later'] },
    { file: 'README.md', text: '\x46IXME', finds: ['README.md:1 leaves something for later'] },
    { file: 'src/a.ts', text: 'const toDo = 1', finds: [] },
  ],
})

prove({
  promise: 'every test runs',
  covers: file => isTest(file) && isCode(file),
  find: (file, text) => {
    const call = /\b(?:test|it|describe|suite|t|context)\s*\.\s*(?:only|skip|todo)\b/g
    const option = /\b(?:test|it|describe|suite)\s*\([^;=]*?,\s*\{[^}]*?\b(?:only|skip|todo)\s*[:,}]/g
    return [...places(file, codeOf(text), call, 'runs only a part'), ...places(file, codeOf(text), option, 'runs only a part')]
  },
  samples: [
    ...[
      'test.only(',
      'describe.skip(',
      't.skip()',
      "test('a', { skip: true }",
      "test('a', { timeout: 5, only }",
      'test(`${a} = b`, { todo: true }',
    ].map(text => ({
      file: 'src/a.test.ts',
      text,
      finds: ['src/a.test.ts:1 runs only a part'],
    })),
    { file: 'test/a.test.ts', text: "test('skip: it.only', () => { list.skip(1); once({ timeout: 1 }) })", finds: [] },
    { file: 'test/a.test.ts', text: "test('a', () => {\n  equal(b, { todo: 'c' })\n})", finds: [] },
  ],
})

prove({
  promise: 'no file names the machine or the registry it was made with',
  covers: () => true,
  find: (file, text) => [
    ...places(file, text, /(?<![\w.])\/(?:work|root|home\/\w+|Users\/\w+)\//g, 'names a folder of one machine'),
    ...places(file, text, /https?:\/\/[\w.-]*(?:registry|artifactory|nexus)[\w.-]*/g, 'names a registry'),
    ...places(file, text, /"resolve[d]":/g, 'says where a package came from'),
  ],
  samples: [
    { file: 'src/a.ts', text: "'/\x77ork/main'", finds: ['src/a.ts:1 names a folder of one machine'] },
    { file: 'README.md', text: 'cd /\x68ome/ann/paceline', finds: ['README.md:1 names a folder of one machine'] },
    { file: '.npmrc', text: 'registry=https://\x72egistry.example.org/', finds: ['.npmrc:1 names a registry'] },
    { file: 'package-lock.json', text: '{\n"\x72esolved": "x"', finds: ['package-lock.json:2 says where a package came from'] },
    { file: 'src/a.ts', text: "import './work/a.ts' // see https://example.org/work/x", finds: [] },
  ],
})

const known = new Set(projectFiles().flatMap(file => [file, path.dirname(file)]))

prove({
  promise: 'every relative link leads to a file',
  covers: file => file.endsWith('.md'),
  find: (file, text) => {
    const prose = text.replaceAll(/^```[\s\S]*?^```/gm, fence => fence.replaceAll(/[^\n]/g, ' '))
    return [...prose.matchAll(/\]\(<?([^)\s>]+)/g)].flatMap(({ 1: link = '', index }) => {
      if (/^(?:[a-z]+:|#)/.test(link)) return []
      const target = path.join(path.dirname(file), link.replace(/[#?].*$/, '')).replace(/\/$/, '')
      return known.has(target) ? [] : [`${file}:${lineAt(text, index)} links to ${link}, which is not there`]
    })
  },
  samples: [
    { file: 'docs/a.md', text: 'see\n[b](b.md)', finds: ['docs/a.md:2 links to b.md, which is not there'] },
    {
      file: 'docs/a.md',
      text: '![b](../src/kernel/gone.png)',
      finds: ['docs/a.md:1 links to ../src/kernel/gone.png, which is not there'],
    },
    { file: 'docs/a.md', text: '[a](../src/kernel/clock.ts#L1) [b](https://x.org) [c](#here) [d](../src/kernel/)', finds: [] },
    { file: 'docs/a.md', text: '```\n[b](b.md)\n```', finds: [] },
  ],
})
