// An alert that asks for a figure which nobody tells would never fire, and one without a runbook wakes somebody who does not know what to do.
// Whether the rules fire when they should is promtool's business (deploy/alerts.test.yml).
import { prove } from './check.ts'
import { isSource, projectFiles, read, withoutComments } from './source.ts'

const RULES = 'deploy/alerts.yml'
const RUNBOOK = 'docs/operations.md'

const sources = projectFiles()
  .filter(isSource)
  .map(file => withoutComments(read(file)))
  .join('\n')
/** Where a figure is made. */
const isFigure = (word: string): boolean => sources.includes(`name: '${word}'`)
/** Of a label, its name or a value. */
const isLabel = (word: string): boolean => new RegExp(String.raw`'${word}'|[{,]\s*${word}\s*[,:}]`).test(sources)

/** As GitHub makes them of headings. */
const anchors = new Set(
  [...read(RUNBOOK).matchAll(/^#+ (.+)$/gm)].map(
    ([, heading = '']) =>
      `${RUNBOOK}#${heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-')}`,
  ),
)

interface Alert {
  readonly name: string
  readonly expression: string
  readonly runbook: string | undefined
}

/** One key to a line, or a block below it that is indented further. */
function alertsIn(text: string): Alert[] {
  const [, ...rules] = text.split(/^ *- alert: /m)
  return rules.map(rule => ({
    name: /^\w+/.exec(rule)?.[0] ?? '',
    expression: /^( *)expr: (?:\|\n((?:\1 +.*\n)+)|(.*)$)/m.exec(rule)?.slice(2).join('') ?? '',
    runbook: /^ *runbook_url: (.+)$/m.exec(rule)?.[1],
  }))
}

const WORDS = new Set(['and', 'by', 'offset', 'on', 'or', 'unless', 'without'])

interface Words {
  readonly figures: readonly string[]
  /** Their names and values. */
  readonly labels: readonly string[]
}

function wordsIn(expression: string): Words {
  const matchers = [...expression.matchAll(/(\w+)\s*[=!]+~?\s*"([^"]*)"/g)].flatMap(([, label = '', value = '']) => [
    label,
    value,
  ])
  const grouped = [...expression.matchAll(/\b(?:by|without|on)\s*\(([^)]*)\)/g)].flatMap(([, labels = '']) =>
    labels.split(/,\s*/),
  )
  const rest = expression.replaceAll(/\{[^}]*\}/g, ' ').replaceAll(/\b(?:by|without|on)\s*\([^)]*\)/g, ' ')
  const names = [...rest.matchAll(/\b[a-z_]\w*\b(?!\s*\()/g)].map(([name]) => name)
  return { figures: [...new Set(names.filter(name => !WORDS.has(name)))], labels: [...new Set([...matchers, ...grouped])] }
}

function wrongIn({ name, expression, runbook }: Alert): string[] {
  const { figures, labels } = wordsIn(expression)
  const unknown = [...figures.filter(word => !isFigure(word)), ...labels.filter(word => !isLabel(word))]
  return [
    ...(figures.length === 0 ? [`${name} asks for nothing`] : []),
    ...unknown.map(word => `${name} asks for ${word}, which nothing in src tells`),
    ...(runbook === `${RUNBOOK}#${name.toLowerCase()}` && anchors.has(runbook)
      ? []
      : [`${name} has no section of its name in ${RUNBOOK}`]),
  ]
}

const rule = (name: string, expression: string, runbook: string): string =>
  `groups:\n  - rules:\n      - alert: ${name}\n        expr: ${expression}\n        annotations:\n          runbook_url: ${runbook}\n`

const KNOWN = 'docs/operations.md#pacelinenoworker'

prove({
  promise: 'each alert asks for what is told, and has a runbook',
  covers: file => file === RULES,
  find: (_, text) => {
    const alerts = alertsIn(text)
    return alerts.length === 0 ? ['there is no alert'] : alerts.flatMap(wrongIn)
  },
  samples: [
    { file: RULES, text: rule('PacelineNoWorker', 'max(paceline_workers) < 1', KNOWN), finds: [] },
    {
      file: RULES,
      text: rule(
        'PacelineNoWorker',
        '|\n          sum by (consumer, reason) (\n            increase(dlq_messages_total{reason="refused"}[15m] offset 5m)\n          ) > 0',
        KNOWN,
      ),
      finds: [],
    },
    {
      file: RULES,
      text: rule('PacelineNoWorker', 'max by (cellar) (paceline_worker{consumer!="butler"} or sugar) > 0', KNOWN),
      finds: ['paceline_worker', 'sugar', 'butler', 'cellar'].map(
        word => `PacelineNoWorker asks for ${word}, which nothing in src tells`,
      ),
    },
    {
      file: RULES,
      text: rule('PacelineTired', 'paceline_workers > 9', 'docs/operations.md#pacelinetired'),
      finds: ['PacelineTired has no section of its name in docs/operations.md'],
    },
    {
      file: RULES,
      text: rule('PacelineTired', '9 > 8', KNOWN),
      finds: ['PacelineTired asks for nothing', 'PacelineTired has no section of its name in docs/operations.md'],
    },
    { file: RULES, text: 'groups: []\n', finds: ['there is no alert'] },
  ],
})
