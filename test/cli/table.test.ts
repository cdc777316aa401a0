import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {formatCache} from '../../src/cli/cache-text.js'
import {readCommandTree} from '../../src/cli/completion/command-tree.js'
import {
  formatContracts,
  formatGroups,
  formatJourney,
  formatModels,
  formatOperations,
  formatRuns,
  formatSchedules,
  formatSessions,
  formatSettings,
  formatTable,
  formatTools,
  type TableView,
  wide,
  wrapped,
} from '../../src/cli/index.js'
import {
  formatAudit,
  formatDeadMessages,
  formatLeases,
  formatMeshMessages,
  formatNodes,
} from '../../src/cli/mesh-text.js'
import {formatHistory, formatInbox} from '../../src/cli/message-text.js'
import {formatAgents, formatAttention, formatEvidence, formatTasks} from '../../src/cli/orch-text.js'
import {formatPlanStatus, formatPlans} from '../../src/cli/plan-text.js'
import {formatQuestions} from '../../src/cli/question-text.js'
import {formatRun} from '../../src/cli/workflow-text.js'
import {listContracts} from '../../src/contracts/index.js'
import {canonicalJourneySteps} from '../../src/journeys/canonical.js'
import {operationTools} from '../../src/mcp/index.js'
import {projectFile} from '../support/project.js'

describe('a table', () => {
  it('aligns its columns without trailing spaces', () =>
    assert.equal(
      formatTable(
        ['NAME', 'VALUE', 'NOTE'],
        [
          ['a', '1', 'first'],
          ['longer', '22', ''],
        ],
      ),
      'NAME    VALUE  NOTE\na       1      first\nlonger  22\n',
    ))

  it('is not wrapped on a terminal that reports a width of 0', () =>
    assert.equal(formatTable(['A', wrapped('B')], [['1', 'two words']], {width: 0}), 'A  B\n1  two words\n'))

  it('wraps its last column between words on a narrow terminal', () =>
    assert.equal(
      formatTable(['NAME', wrapped('NOTE')], [['a', 'one two three four /a/very/long/path/of/a/file']], {width: 30}),
      'NAME  NOTE\na     one two three four\n      /a/very/long/path/of/a/file\n',
    ))

  it('wraps all wide columns of texts, and splits long words before another column', () => {
    const rows = [['group.with_a_long_name', '{"one":["program","argument"]}', 'file x']]
    const table = formatTable([wrapped('SETTING'), wrapped('VALUE'), 'FROM'], rows, {width: 50})
    assert.deepEqual(table.trimEnd().split('\n'), [
      'SETTING               VALUE                 FROM',
      'group.with_a_long_    {"one":["program",    file x',
      'name                  "argument"]}',
    ])
  })

  const columns = ['ID', wide('CREATED AT'), 'STATE', wrapped('NOTE')]
  const rows = [
    ['T-1', '2026-12-01T08:00:30Z', 'queued', 'first'],
    ['T-2', '2026-12-01T08:00:31Z', 'failed', ''],
  ]
  for (const [name, view, expected] of [
    ['hides wide columns', {}, 'ID   STATE   NOTE\nT-1  queued  first\nT-2  failed\n'],
    ['prints ids with --output name', {output: 'name'}, 'T-1\nT-2\n'],
    [
      'prints the columns of --columns',
      {columns: ['state', 'created-at']},
      'STATE   CREATED AT\nqueued  2026-12-01T08:00:30Z\nfailed  2026-12-01T08:00:31Z\n',
    ],
    [
      'prints each row as a list if its columns do not fit',
      {output: 'wide', width: 34},
      'ID          T-1\nCREATED AT  2026-12-01T08:00:30Z\nSTATE       queued\nNOTE        first\n\nID          T-2\nCREATED AT  2026-12-01T08:00:31Z\nSTATE       failed\nNOTE\n',
    ],
  ] as const)
    it(name, () => assert.equal(formatTable(columns, rows, view), expected))

  it('prints a sentence without rows, but nothing with --output name', () => {
    assert.equal(formatTable(columns, [], {}, 'No tasks.'), 'No tasks.\n')
    assert.equal(formatTable(columns, [], {output: 'name'}, 'No tasks.'), '')
  })

  it('suggests the nearest of its columns for an unknown one', () =>
    assert.throws(() => formatTable(columns, [], {columns: ['stat']}, 'No tasks.'), {
      message: 'The table has no column stat. Did you mean state?',
      hint: 'The columns are id, created-at, state, note.',
    }))
})

const at = Date.UTC(2026, 10, 29, 4, 5, 6, 789)
const uuid = '1b4e28ba-2fa1-11d2-883f-0016d3cca427'
const run = `wf-release-${uuid}`
const long = 'Describe what the parser does with a program that has no statements, and why, in one or two sentences'
const task = {
  display_id: 'T-123456',
  status: 'AwaitingApproval',
  priority: 'background',
  agent_name: 'a-reviewer-with-a-long-name',
  processor: 'external',
  created_at_ms: at,
  not_before_ms: at,
  description: long,
}
const agent = {
  display_id: 'A-123',
  name: 'a-reviewer-with-a-long-name',
  kind: 'dynamic',
  state: 'quarantined',
  queued: 1000,
  running: 1000,
  doubted: 1000,
  completed: 1000,
  weighted_load: 1000,
  tokens_used: 1_000_000,
}
const message = {
  id: 123456,
  sender: 1,
  receiver: 2,
  msg_type: 'remote_task_result',
  priority: 'background',
  timestamp_ms: at,
  payload: long,
}
const meshMessage = {
  id: 123456,
  sender_agent_id: '12',
  receiver_agent_id: '13',
  message_type: 'remote_task_result',
  priority: 128,
  created_unix_ms: at,
  dead_unix_ms: at,
  delivery_attempts: 16,
  lease_holder_node_id: 'workstation-1',
  payload: long,
}
const setting = {
  name: 'orchestrator.max_context_sessions_per_agent',
  value: long,
  origin: {source: 'env', name: 'SVC_X'},
  overridden: [],
}
const contracts = await listContracts()
const tools = operationTools()
const displayAgent = (id: number) => `A-0${id}`
const displayTask = (id: number) => `T-000${id}`

/** Every table of records with its ids, filled with long values. */
const tables: readonly (readonly [name: string, ids: readonly string[], format: (view: TableView) => string])[] = [
  ['orch tasks', ['T-123456'], (view) => formatTasks([task] as never, view)],
  ['orch agents', ['A-123'], (view) => formatAgents([agent] as never, view)],
  [
    'orch questions',
    ['Q-0012', 'session-1a2b3c4d', 'T-0012'],
    (view) =>
      formatQuestions(
        [
          {
            question_id: 'Q-0012',
            session_id: 'session-1a2b3c4d',
            task_id: 12,
            prompt: long,
            options: [
              {option_id: 'a-long-option', is_other: false},
              {option_id: 'another', is_other: true},
            ],
          },
        ] as never,
        view,
      ),
  ],
  [
    'orch session list',
    ['session-1a2b3c4d'],
    (view) =>
      formatSessions(
        [
          {
            id: 'session-1a2b3c4d',
            agent_id: 'a-reviewer-with-a-long-name',
            state: 'Suspended',
            turn_count: 1000,
            token_count: 100_000,
            created_at: at / 1000,
            last_active: at / 1000,
          },
        ] as never,
        view,
      ),
  ],
  [
    'orch plan list',
    [`plan-${uuid}`],
    (view) =>
      formatPlans(
        [
          {
            session_id: `plan-${uuid}`,
            status: 'completed',
            latest_version: 12,
            completed: 10,
            total: 12,
            failed: 10,
            created_at_ms: at,
            goal: long,
          },
        ] as never,
        view,
      ),
  ],
  [
    'orch plan status',
    ['T-0001', 'n-write-tests'],
    (view) =>
      formatPlanStatus(
        {
          session_id: 'plan-1',
          goal: long,
          status: 'failed',
          execution_mode: 'sequential',
          latest_version: 1,
          step_counts: {completed: 1, failed: 1, in_progress: 0, pending: 0},
          steps: [
            {
              id: 1,
              node_id: 'n-write-tests',
              status: 'in_progress',
              task_id: 1,
              attempts: 12,
              description: long,
              last_error: long,
            },
          ],
        } as never,
        displayTask,
        view,
      ),
  ],
  [
    'orch attention',
    ['T-0001'],
    (view) =>
      formatAttention(
        {
          budget: {
            spent_ms: 1,
            max_attention_ms: 2,
            spent_ratio: 0.5,
            signal: 'ok',
            total_requests: 1,
            focus_depth: 'deep',
            interrupt_freq_per_hour: 1,
            auto_approved: 1,
            rejected: 0,
            enabled: true,
          },
          events: [
            {
              timestamp_ms: at,
              event_type: 'confirmation_requested',
              task_id: 1,
              tier: 'act',
              cost_ms: 120_000,
              outcome: long,
            },
          ],
        } as never,
        displayTask,
        view,
      ),
  ],
  [
    'orch task --evidence',
    [],
    (view) =>
      formatEvidence(
        {
          files: [
            {path: 'src/a/very/long/path/of/a/file/that/the/task/wrote.ts', change: 'modified', written_at_ms: at},
          ],
          checks: [],
          owed: [],
          observations: [],
          evaluated_at_ms: at,
        } as never,
        view,
      ),
  ],
  ['a2a inbox', ['123456', 'A-01'], (view) => formatInbox([message] as never, displayAgent, view)],
  ['a2a history', ['123456', 'A-01', 'A-02'], (view) => formatHistory([message] as never, displayAgent, view)],
  [
    'mesh nodes',
    ['workstation-1.example'],
    (view) =>
      formatNodes(
        [
          {
            id: 'workstation-1.example',
            version: '0.1.0',
            last_seen_unix_ms: at,
            maintenance_until_unix_ms: at,
            running_tasks: 12,
            capabilities: {labels: ['pool=train', 'disk=nvme', 'zone=a-long-zone']},
          },
        ] as never,
        {stateOf: () => 'maintenance', atMs: at},
        view,
      ),
  ],
  [
    'mesh leases',
    ['123456'],
    (view) =>
      formatLeases(
        [
          {
            lease_id: '123456',
            scope_key: 'task:repository-1a2b3c4d:T-0042',
            holder_node_id: 'workstation-1.example',
            expires_unix_ms: at,
          },
        ] as never,
        view,
      ),
  ],
  ['mesh inbox', ['123456'], (view) => formatMeshMessages([meshMessage] as never, view)],
  ['mesh dead list', ['123456'], (view) => formatDeadMessages([meshMessage] as never, view)],
  [
    'mesh audit',
    ['123456'],
    (view) =>
      formatAudit(
        [
          {
            id: 123456,
            at_unix_ms: at,
            actor: 'workstation-1.example',
            action: 'bootstrap_token_used',
            target: 'repository-1a2b3c4d',
            detail: {lease_id: '4711', holder: 'workstation-1'},
          },
        ] as never,
        view,
      ),
  ],
  [
    'workflow list',
    [run],
    (view) =>
      formatRuns(
        [
          {
            run_id: run,
            workflow: 'release-the-packages',
            status: 'interrupted',
            completed_steps: 12,
            started_at_ms: at,
            error: long,
          },
        ] as never,
        view,
      ),
  ],
  [
    'workflow schedules',
    ['*/15 9-17 1,15 * 1-5', 'America/Argentina/Buenos_Aires'],
    (view) =>
      formatSchedules(
        [
          {
            workflow: 'release-the-packages',
            file: '/home/developer/project/workflows/release.yaml',
            cron: '*/15 9-17 1,15 * 1-5',
            time_zone: 'America/Argentina/Buenos_Aires',
            missed: 'skip',
            next_at_ms: at,
            last_run: {run_id: run, status: 'interrupted', started_at_ms: at},
          },
        ],
        view,
      ),
  ],
  [
    'workflow status',
    [run],
    ({width}) =>
      formatRun(
        {
          run_id: run,
          workflow: 'release',
          status: 'failed',
          completed_steps: 1,
          activities: [
            {
              activity: 'build-every-package',
              activity_id: 'build-every-package#1',
              status: 'completed',
              attempts: 1,
              recorded_at_ms: at,
              error: long,
            },
          ],
        } as never,
        width,
      ),
  ],
  [
    'cache list',
    [],
    (view) =>
      formatCache(
        [
          {
            id: 'w8-0123456789abcdef',
            kind: 'quantised',
            model: 'owner/a-model-with-a-long-name-instruct',
            recipe: 'w8, rows',
            bytes: 1e9,
            last_used_at_ms: at,
          },
        ],
        'in ~/.cache',
        view,
      ),
  ],
  [
    'list',
    ['owner/a-model-with-a-long-name-instruct'],
    (view) =>
      formatModels(
        [
          {
            name: 'owner/a-model-with-a-long-name-instruct',
            kind: 'language',
            bytes: 1e9,
            modified_at_ms: at,
            commit: 'a'.repeat(40),
            path: '/home/me/.cache/huggingface/hub/models--owner--a-model-with-a-long-name-instruct',
          },
        ],
        view,
      ),
  ],
  ['config show', [setting.name], (view) => formatSettings([setting] as never, view)],
  ['orch config', [setting.name], (view) => formatSettings([setting] as never, view)],
  ['contracts list', contracts.map(({id}) => id), (view) => formatContracts(contracts, view)],
  ['mcp tools', tools.map(({name}) => name), (view) => formatTools(tools, view)],
  [
    'orch journey',
    canonicalJourneySteps.map(({maturity}) => maturity),
    (view) => formatJourney({steps: canonicalJourneySteps}, view),
  ],
  [
    'orch oplog',
    [uuid],
    (view) => formatOperations([{op_id: uuid, timestamp_ms: at, undone: true, summary: long}], view),
  ],
  ['explain', ['typecheck'], (view) => formatGroups([['typecheck', ['typecheck.a_long_code', long]]], view)],
]

describe('the tables of svc', () => {
  it('are those of all commands with --columns', () => {
    const {commands} = readCommandTree(projectFile('.'))
    const names = [...commands].flatMap(([name, {flags}]) => (flags.columns === undefined ? [] : [name]))
    const covered = new Set(tables.map(([name]) => name))
    assert.deepEqual(
      names.filter((name) => !covered.has(name)),
      [],
    )
  })

  for (const [name, ids, format] of tables)
    for (const width of [80, 100, 160])
      for (const output of [undefined, 'wide'])
        it(`${name} breaks no id or time on ${width} columns${output === undefined ? '' : ' with --output wide'}`, () => {
          const whole = format({output})
          const times = whole.match(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*/g) ?? []
          const text = format({width, output})
          for (const word of [...ids, ...times]) assert.ok(text.includes(word), `${word} in:\n${text}`)
          const [header = ''] = text.split('\n').filter((line) => /^[A-Z][A-Z ]+$/.test(line))
          assert.ok(header.length <= width, header)
          if (output !== undefined) return
          for (const line of text.split('\n')) assert.ok(line.length <= width || !/ {3}/.test(line), line)
        })
})
