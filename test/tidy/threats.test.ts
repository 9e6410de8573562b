// Each line of docs/threats.md names the tests that hold it, by title: `describe › test`, or a part of a title that is made by a template.
import { prove } from './check.ts'
import { lineAt, projectFiles, read } from './source.ts'

const known = new Set(projectFiles())

prove({
  promise: 'every line of the threats names tests, and they are there',
  covers: file => file === 'docs/threats.md',
  find(file, text) {
    const lines = [...text.matchAll(/^\| (?!-|[\w ]+ \| what holds).*\|$/gm)]
    const bare = lines.filter(([line]) => !/\]\(\.\.\/[^)]+\.ts\)/.test(line))
    const tests = [...text.matchAll(/\[([^\]]+)\]\(\.\.\/([^)]+\.ts)\)/g)]
    const lost = tests.filter(([, title = '', test = '']) => !holds(test, title))
    return [
      ...bare.map(({ index }) => `${file}:${lineAt(text, index)} names no test`),
      ...lost.map(({ 1: title, 2: test, index }) => `${file}:${lineAt(text, index)} ${test} has no test "${title}"`),
    ]
  },
  samples: [
    {
      file: 'docs/threats.md',
      text: '| they might | what holds | test |\n|---|---|---|\n| look | x | none |',
      finds: ['docs/threats.md:3 names no test'],
    },
    {
      file: 'docs/threats.md',
      text: '| look | x | [nobody wrote this](../test/tidy/docs.test.ts) |',
      finds: ['docs/threats.md:1 test/tidy/docs.test.ts has no test "nobody wrote this"'],
    },
    {
      file: 'docs/threats.md',
      text: '| look | x | [a page that was edited or is missing is named](../test/tidy/docs.test.ts) |',
      finds: [],
    },
  ],
})

function holds(file: string, title: string): boolean {
  if (!known.has(file)) return false
  const text = read(file)
  return title.split(' › ').every(part => text.includes(part))
}
