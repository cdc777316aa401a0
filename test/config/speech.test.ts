import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {inspect} from 'node:util'
import {
  hubSettings,
  ideSettings,
  resolveSettings,
  type SettingTable,
  speechAudioSettings,
  speechRefineSettings,
  speechServerSettings,
  speechSessionSettings,
  speechSettings,
} from '../../src/config/index.js'

const speechTables: readonly SettingTable[] = [
  speechSettings,
  speechAudioSettings,
  speechRefineSettings,
  speechSessionSettings,
  speechServerSettings,
]
const tables = [...speechTables, hubSettings, ideSettings]

type Reading = readonly [words: string, value: unknown]

interface Variable {
  setting: string
  default: unknown
  reads: readonly Reading[]
  refuses?: readonly string[]
}

const on: readonly Reading[] = [
  ['1', true],
  ['TRUE', true],
  ['yes', true],
  ['0', false],
  ['False', false],
]
const notBoolean = ['2', 'banana']
const anyPath: readonly Reading[] = [[' ./a b/c.json ', './a b/c.json']]
const anyText: readonly Reading[] = [[' as it is ', 'as it is']]
const count = (min: number): readonly Reading[] => [
  ['100000', 100_000],
  [`${min}`, min],
]
const notCount = ['-1', '1.5', 'many']
const clampedTo = (min: number): readonly Reading[] => [...count(min), [`${min - 1}`, min], ['0', min]]
const anyNumber: readonly Reading[] = [
  ['0.5', 0.5],
  ['-2', -2],
  ['1e-1', 0.1],
]
const notNumber = ['high', 'NaN', 'inf']
const share: readonly Reading[] = [
  ['0.5', 0.5],
  ['7', 1],
  ['-7', 0],
]

/** Every speech variable: its setting, accepted values, and values that are ignored with a warning. */
const variables: Record<string, Variable> = {
  SVC_SPEECH_CONFIG: {setting: 'speech.config', default: undefined, reads: anyPath},
  SVC_SPEECH_BACKEND: {
    setting: 'speech.backend',
    default: 'auto',
    reads: [
      ['whisper', 'whisper'],
      ['ONNX-Whisper', 'onnx-whisper'],
    ],
    refuses: ['sherpa'],
  },
  SVC_SPEECH_MODEL: {
    setting: 'speech.model',
    default: undefined,
    reads: [['openai/whisper-base', 'openai/whisper-base']],
  },
  SVC_SPEECH_REVISION: {setting: 'speech.revision', default: 'main', reads: [['refs/pr/4', 'refs/pr/4']]},
  SVC_SPEECH_CUDA: {
    setting: 'speech.device',
    default: 'cpu',
    reads: [
      ['1', 'cuda'],
      ['True', 'cuda'],
      ['0', 'cpu'],
      ['false', 'cpu'],
      ['cuda', 'cuda'],
    ],
    refuses: ['2', 'yes'],
  },
  SVC_SPEECH_PRECISION: {
    setting: 'speech.precision',
    default: 'auto',
    reads: [
      ['int8', 'int8'],
      ['F32', 'f32'],
      ['fp32', 'f32'],
    ],
    refuses: ['q4', 'fp16'],
  },
  SVC_SPEECH_DTYPE: {setting: 'speech.precision', default: 'auto', reads: [['int8', 'int8']], refuses: ['q4']},
  SVC_SPEECH_THREADS: {
    setting: 'speech.threads',
    default: 0,
    reads: [
      ['0', 0],
      ['256', 256],
    ],
    refuses: [...notCount, '257'],
  },
  SVC_SPEECH_KEEP_ALIVE_MS: {
    setting: 'speech.keep_alive_ms',
    default: -1,
    reads: [...count(0), ['-1', -1]],
    refuses: ['-2', '1.5'],
  },
  SVC_SPEECH_LANGUAGE: {setting: 'speech.language', default: undefined, reads: [['de', 'de']]},
  SVC_SPEECH_TASK: {
    setting: 'speech.task',
    default: 'transcribe',
    reads: [['Translate', 'translate']],
    refuses: ['sing'],
  },
  SVC_SPEECH_BEAM_SIZE: {setting: 'speech.beam_size', default: 1, reads: [['5', 5]], refuses: ['0', '65', '1.5']},
  SVC_SPEECH_BEST_OF: {setting: 'speech.best_of', default: 5, reads: [['1', 1]], refuses: ['0', '65']},
  SVC_SPEECH_TEMPERATURE: {
    setting: 'speech.temperature',
    default: 0,
    reads: [['0.2', 0.2]],
    refuses: ['-0.1', '1.1', 'hot'],
  },
  SVC_SPEECH_SEED: {setting: 'speech.seed', default: 299_792_458, reads: count(0), refuses: notCount},
  SVC_SPEECH_NO_SPEECH_THRESHOLD: {
    setting: 'speech.no_speech_threshold',
    default: 0.6,
    reads: [['0.4', 0.4]],
    refuses: ['2', 'high'],
  },
  SVC_SPEECH_TEMPERATURE_INCREMENT: {
    setting: 'speech.temperature_increment',
    default: 0.2,
    reads: [['0', 0]],
    refuses: ['-0.1', '1.1', 'warm'],
  },
  SVC_SPEECH_COMPRESSION_RATIO_THRESHOLD: {
    setting: 'speech.compression_ratio_threshold',
    default: 2.4,
    reads: [['3.5', 3.5]],
    refuses: ['-1', 'high'],
  },
  SVC_SPEECH_LOGPROB_THRESHOLD: {
    setting: 'speech.logprob_threshold',
    default: -1,
    reads: [['-0.5', -0.5]],
    refuses: ['1', 'low'],
  },
  SVC_SPEECH_CONDITION_ON_PREVIOUS: {
    setting: 'speech.condition_on_previous',
    default: true,
    reads: on,
    refuses: notBoolean,
  },
  SVC_SPEECH_PATIENCE: {setting: 'speech.patience', default: 1, reads: [['2.5', 2.5]], refuses: ['0', 'long']},
  SVC_SPEECH_LENGTH_PENALTY: {
    setting: 'speech.length_penalty',
    default: undefined,
    reads: [['0.6', 0.6]],
    refuses: ['-1', '2', 'long'],
  },
  SVC_SPEECH_INITIAL_PROMPT: {setting: 'speech.initial_prompt', default: undefined, reads: anyText},
  SVC_SPEECH_WORD_TIMESTAMPS: {setting: 'speech.word_timestamps', default: false, reads: on, refuses: notBoolean},
  SVC_SPEECH_HALLUCINATION_SILENCE_THRESHOLD: {
    setting: 'speech.hallucination_silence_threshold',
    default: undefined,
    reads: [['2.5', 2.5]],
    refuses: ['-1', 'long'],
  },
  SVC_SPEECH_EMIT_PARTIAL_PATH: {setting: 'speech.emit_partial_path', default: undefined, reads: anyPath},
  SVC_SPEECH_STREAM_TOKENS: {setting: 'speech.stream_tokens', default: false, reads: on, refuses: notBoolean},
  SVC_SPEECH_VERBOSE: {setting: 'speech.verbose', default: false, reads: on, refuses: notBoolean},

  SVC_SPEECH_ACOUSTIC_PREPROCESS: {
    setting: 'speech.acoustic_preprocess',
    default: 'none',
    reads: [
      ['none', 'none'],
      ['0', 'none'],
      ['peak', 'peak_normalize'],
      ['1', 'peak_normalize'],
      ['peak_normalize', 'peak_normalize'],
      ['rms', 'rms_normalize'],
      ['RMS_normalize', 'rms_normalize'],
    ],
    refuses: ['loud'],
  },
  SVC_SPEECH_ACOUSTIC_PREPROCESS_BUDGET_MS: {
    setting: 'speech.acoustic_preprocess_budget_ms',
    default: 25,
    reads: count(0),
    refuses: notCount,
  },
  SVC_SPEECH_RMS_TARGET_DBFS: {
    setting: 'speech.rms_target_dbfs',
    default: -18,
    reads: [['-23.5', -23.5]],
    refuses: ['3', 'loud'],
  },
  SVC_SPEECH_VAD: {
    setting: 'speech.vad',
    default: 'energy',
    reads: [
      ['none', 'none'],
      ['passthrough', 'none'],
      ['Neural', 'neural'],
    ],
    refuses: ['ears'],
  },
  SVC_SPEECH_VAD_ENABLED: {setting: 'speech.vad_enabled', default: true, reads: on, refuses: notBoolean},
  SVC_SPEECH_VAD_MODEL: {setting: 'speech.vad_model', default: undefined, reads: anyPath},
  SVC_SPEECH_VAD_ENERGY_THRESHOLD: {
    setting: 'speech.vad_energy_threshold',
    default: 0.003,
    reads: [['0.01', 0.01]],
    refuses: ['-1', '2', 'high'],
  },
  SVC_SPEECH_VAD_THRESHOLD: {
    setting: 'speech.vad_threshold',
    default: 0.5,
    reads: [['0.35', 0.35]],
    refuses: ['-1', '2', 'high'],
  },
  SVC_SPEECH_VAD_MIN_SPEECH_MS: {
    setting: 'speech.vad_min_speech_ms',
    default: 0,
    reads: count(0),
    refuses: [...notCount, '4294967296'],
  },
  SVC_SPEECH_VAD_MAX_SPEECH_SEC: {
    setting: 'speech.vad_max_speech_sec',
    default: 25,
    reads: [['12.5', 12.5]],
    refuses: ['0', 'long'],
  },
  SVC_SPEECH_VAD_SPEECH_PAD_MS: {
    setting: 'speech.vad_speech_pad_ms',
    default: 0,
    reads: [['100', 100]],
    refuses: [...notCount, '60001'],
  },
  SVC_SPEECH_VAD_MERGE_GAP_MS: {
    setting: 'speech.vad_merge_gap_ms',
    default: 300,
    reads: count(0),
    refuses: [...notCount, '4294967296'],
  },
  SVC_SPEECH_CHANNELS: {
    setting: 'speech.channels',
    default: 'mix',
    reads: [
      ['Split', 'split'],
      ['2', 2],
    ],
    refuses: ['0', '65', '1.5', 'left'],
  },
  SVC_SPEECH_SPEAKERS: {
    setting: 'speech.speakers',
    default: [],
    reads: [['Agent, Caller,', ['Agent', 'Caller']]],
  },
  SVC_SPEECH_CHUNK_SEC: {
    setting: 'speech.chunk_sec',
    default: 0,
    reads: [
      ['0', 0],
      ['2', 5],
      ['12.5', 12.5],
      ['60', 28],
    ],
    refuses: ['-1', 'nan', 'long'],
  },
  SVC_SPEECH_BATCH: {
    setting: 'speech.batch',
    default: 1,
    reads: [
      ['0', 0],
      ['32', 32],
    ],
    refuses: ['-1', '33', '1.5', 'many'],
  },
  SVC_SPEECH_CHUNK_OVERLAP_SEC: {
    setting: 'speech.chunk_overlap_sec',
    default: 0.5,
    reads: [['0', 0]],
    refuses: ['-0.5', 'some'],
  },

  SVC_SPEECH_PROFILE: {
    setting: 'speech.profile',
    default: 'balanced',
    reads: [['Aggressive', 'aggressive']],
    refuses: ['wild'],
  },
  SVC_SPEECH_DOMAIN_MODE: {
    setting: 'speech.domain_mode',
    default: 'general',
    reads: [['code', 'code']],
    refuses: ['law'],
  },
  SVC_SPEECH_SPEECH_LEXICON_PATH: {setting: 'speech.lexicon_path', default: undefined, reads: anyPath},
  SVC_SPEECH_LEXICON_PATH: {setting: 'speech.lexicon_path', default: undefined, reads: anyPath},
  SVC_SPEECH_REFINE_CONSERVATIVE_BASE: {
    setting: 'speech.refine_conservative_base',
    default: 0.82,
    reads: anyNumber,
    refuses: notNumber,
  },
  SVC_SPEECH_REFINE_BALANCED_BASE: {
    setting: 'speech.refine_balanced_base',
    default: 0.87,
    reads: anyNumber,
    refuses: notNumber,
  },
  SVC_SPEECH_REFINE_AGGRESSIVE_BASE: {
    setting: 'speech.refine_aggressive_base',
    default: 0.9,
    reads: anyNumber,
    refuses: notNumber,
  },
  SVC_SPEECH_REFINE_PENALTY_PER_TRACE: {
    setting: 'speech.refine_penalty_per_trace',
    default: 0.015,
    reads: anyNumber,
    refuses: notNumber,
  },
  SVC_SPEECH_REFINE_PENALTY_CAP: {
    setting: 'speech.refine_penalty_cap',
    default: 0.25,
    reads: anyNumber,
    refuses: notNumber,
  },
  SVC_SPEECH_REFINE_CONFIDENCE_MIN: {
    setting: 'speech.refine_confidence_min',
    default: 0.1,
    reads: anyNumber,
    refuses: notNumber,
  },
  SVC_SPEECH_REFINE_CONFIDENCE_MAX: {
    setting: 'speech.refine_confidence_max',
    default: 0.99,
    reads: anyNumber,
    refuses: notNumber,
  },
  SVC_SPEECH_CONTEXTUAL_BIAS: {setting: 'speech.contextual_bias', default: true, reads: on, refuses: notBoolean},
  SVC_SPEECH_SESSION_HOTWORDS: {
    setting: 'speech.session_hotwords',
    default: [],
    reads: [['get user, MESH;a\nb,,a', ['get user', 'MESH', 'a', 'b']]],
  },
  SVC_SPEECH_MAX_BIAS_PHRASES: {
    setting: 'speech.max_bias_phrases',
    default: 256,
    reads: clampedTo(1),
    refuses: notCount,
  },
  SVC_SPEECH_LOGIT_BIAS_STRENGTH: {
    setting: 'speech.logit_bias_strength',
    default: 0.8,
    reads: anyNumber,
    refuses: notNumber,
  },
  SVC_SPEECH_LOGIT_BIAS_MAX_TOKENS: {
    setting: 'speech.logit_bias_max_tokens',
    default: 256,
    reads: clampedTo(1),
    refuses: notCount,
  },
  SVC_SPEECH_SUPPRESS_TOKENS: {
    setting: 'speech.suppress_tokens',
    default: [-1],
    reads: [['-1, 7;x -3', [-1, 7]]],
  },
  SVC_SPEECH_LOGIT_FORBID_TOKENS: {
    setting: 'speech.logit_forbid_tokens',
    default: [],
    reads: [['50256, x;7 -3\n7', [50_256, 7]]],
  },
  SVC_SPEECH_CONSTRAINED_PHRASES: {
    setting: 'speech.constrained_phrases',
    default: [],
    reads: [['run tests;stop', ['run tests', 'stop']]],
  },
  SVC_SPEECH_CONSTRAINED_TRIE: {setting: 'speech.constrained_trie', default: false, reads: on, refuses: notBoolean},
  SVC_SPEECH_TRIE_STUCK_STEPS: {setting: 'speech.trie_stuck_steps', default: 2, reads: clampedTo(1), refuses: notCount},

  SVC_SPEECH_CAPTURE_TIMEOUT_MS: {
    setting: 'speech.capture_timeout_ms',
    default: 12_000,
    reads: count(0),
    refuses: notCount,
  },
  SVC_SPEECH_MAX_DURATION_MS: {setting: 'speech.max_duration_ms', default: 120_000, reads: count(0), refuses: notCount},
  SVC_SPEECH_INFERENCE_DEADLINE_MS: {
    setting: 'speech.inference_deadline_ms',
    default: 0,
    reads: count(0),
    refuses: notCount,
  },
  SVC_SPEECH_HEARTBEAT_MS: {setting: 'speech.heartbeat_ms', default: 3000, reads: count(0), refuses: notCount},
  SVC_SPEECH_TOOL_ROUTE_MIN_CONFIDENCE: {
    setting: 'speech.tool_route_min_confidence',
    default: 0.55,
    reads: share,
    refuses: notNumber,
  },
  SVC_SPEECH_ORCHESTRATOR_MIN_CONFIDENCE: {
    setting: 'speech.orchestrator_min_confidence',
    default: 0.45,
    reads: share,
    refuses: notNumber,
  },
  SVC_SPEECH_CHAT_MAX_MESSAGES: {
    setting: 'speech.chat_max_messages',
    default: 64,
    reads: count(4),
    refuses: [...notCount, '3'],
  },
  SVC_SPEECH_ROUTE_MAX_USER_TURNS: {
    setting: 'speech.route_max_user_turns',
    default: 32,
    reads: count(1),
    refuses: [...notCount, '0'],
  },
  SVC_SPEECH_ROUTING_SESSION_CAP: {
    setting: 'speech.routing_session_cap',
    default: 4096,
    reads: clampedTo(64),
    refuses: notCount,
  },
  SVC_SPEECH_ROUTING_SESSION_TTL_SECS: {
    setting: 'speech.routing_session_ttl_secs',
    default: 86_400,
    reads: clampedTo(60),
    refuses: notCount,
  },
  SVC_SPEECH_LLM_REFINEMENT_DEFAULT: {
    setting: 'speech.llm_refinement_default',
    default: false,
    reads: on,
    refuses: notBoolean,
  },
  SVC_SPEECH_LLM_MIN_CONFIDENCE: {
    setting: 'speech.llm_min_det_confidence',
    default: 0.82,
    reads: anyNumber,
    refuses: notNumber,
  },
  SVC_SPEECH_LLM_MAX_OUTPUT_TOKENS: {
    setting: 'speech.llm_max_output_tokens',
    default: 512,
    reads: clampedTo(64),
    refuses: notCount,
  },
  SVC_SPEECH_LLM_DEADLINE_MS: {
    setting: 'speech.llm_deadline_ms',
    default: 5000,
    reads: count(1),
    refuses: [...notCount, '0'],
  },

  SVC_SPEECH_CACHE_DIR: {setting: 'hub.hub_cache', default: undefined, reads: anyPath},
  HF_HUB_CACHE: {setting: 'hub.hub_cache', default: undefined, reads: anyPath},
  HF_ENDPOINT: {
    setting: 'hub.hub_endpoint',
    default: 'https://huggingface.co',
    reads: [['http://127.0.0.1:9', 'http://127.0.0.1:9']],
    refuses: ['ftp://here'],
  },
  HF_TOKEN: {setting: 'hub.hub_token', default: undefined, reads: anyText},
  HUGGING_FACE_HUB_TOKEN: {setting: 'hub.hub_token', default: undefined, reads: anyText},
  SVC_SPEECH_OFFLINE: {setting: 'hub.offline', default: false, reads: on, refuses: notBoolean},
  HF_HUB_OFFLINE: {setting: 'hub.offline', default: false, reads: on, refuses: notBoolean},
  SVC_SPEECH_HF_RETRY_ATTEMPTS: {setting: 'hub.hf_retry_attempts', default: 3, reads: clampedTo(1)},
  SVC_SPEECH_HF_RETRY_DELAY_MS: {setting: 'hub.hf_retry_delay_ms', default: 600, reads: count(0), refuses: notCount},

  SVC_DASH_HOST: {setting: 'speech.dash_host', default: '127.0.0.1', reads: [['::1', '::1']]},
  SVC_DASH_PORT: {
    setting: 'speech.dash_port',
    default: 3847,
    reads: [
      ['0', 0],
      ['65535', 65_535],
    ],
    refuses: ['65536', 'http', '-1'],
  },
  SVC_SPEECH_TOKEN: {setting: 'speech.token', default: undefined, reads: anyText},
  SVC_SPEECH_TLS_CERT_PATH: {setting: 'speech.tls_cert_path', default: undefined, reads: anyPath},
  SVC_SPEECH_TLS_KEY_PATH: {setting: 'speech.tls_key_path', default: undefined, reads: anyPath},
  SVC_SPEECH_WORKSPACE: {setting: 'speech.workspace', default: undefined, reads: anyPath},
  SVC_SPEECH_MAX_UPLOAD_BYTES: {
    setting: 'speech.max_upload_bytes',
    default: 33_554_432,
    reads: count(1),
    refuses: [...notCount, '0'],
  },
  SVC_SPEECH_STREAM_PARTIAL_QUIET_MS: {
    setting: 'speech.stream_partial_quiet_ms',
    default: 350,
    reads: clampedTo(50),
    refuses: notCount,
  },
  SVC_SPEECH_STREAM_MAX_WAIT_MS: {
    setting: 'speech.stream_max_wait_ms',
    default: 2500,
    reads: clampedTo(200),
    refuses: notCount,
  },
  SVC_SPEECH_STREAM_MAX_BUFFER_MS: {
    setting: 'speech.stream_max_buffer_ms',
    default: 300_000,
    reads: clampedTo(1000),
    refuses: notCount,
  },
  SVC_SPEECH_SESSION_TTL_SECS: {
    setting: 'speech.session_ttl_secs',
    default: 300,
    reads: count(1),
    refuses: [...notCount, '0'],
  },
  SVC_SPEECH_CANARY_KPI: {setting: 'speech.canary_kpi', default: undefined, reads: anyPath},

  SVC_ACTIVE_FILE: {setting: 'ide.active_file', default: undefined, reads: anyPath},
  ACTIVE_FILE: {setting: 'ide.active_file', default: undefined, reads: anyPath},
  SVC_ACTIVE_LINE: {setting: 'ide.active_line', default: undefined, reads: count(1), refuses: [...notCount, '0']},
  SVC_ACTIVE_SYMBOL: {setting: 'ide.active_symbol', default: undefined, reads: anyText},
}

/** The value of one setting, and all warnings. */
function resolve(setting: string, env: Record<string, string>) {
  const resolutions = tables.map((table) => resolveSettings(table, {env}))
  const found = resolutions.flatMap(({settings}) => settings).find(({name}) => name === setting)
  assert.ok(found, setting)
  return {value: found.value, warnings: resolutions.flatMap(({warnings}) => warnings)}
}

/** Settings for which an invalid variable is an error. */
const strict = ['speech.backend', 'speech.precision', 'speech.task']

describe('speech variables', () => {
  for (const [variable, {setting, default: fallback, reads, refuses = []}] of Object.entries(variables)) {
    it(`${variable} sets ${setting}; default ${inspect(fallback)}`, () => {
      assert.deepEqual(resolve(setting, {}), {value: fallback, warnings: []})
      assert.deepEqual(resolve(setting, {[variable]: '  '}), {value: fallback, warnings: []})
      for (const [words, value] of reads)
        assert.deepEqual(resolve(setting, {[variable]: words}), {value, warnings: []}, `"${words}"`)
    })

    if (refuses.length > 0)
      it(`${variable} is ${strict.includes(setting) ? 'an error' : 'ignored with a warning'} if it is ${refuses.join(' or ')}`, () => {
        for (const words of refuses) {
          if (strict.includes(setting)) {
            assert.throws(() => resolve(setting, {[variable]: words}), {code: 'config_variable'})
            continue
          }
          const {value, warnings} = resolve(setting, {[variable]: words})
          assert.deepEqual(value, fallback, words)
          assert.deepEqual(
            warnings.map(({subject}) => subject),
            [variable],
          )
        }
      })
  }

  it('are all tested here', () => {
    const declared = tables.flatMap((table) => Object.values(table.rows).flatMap(({env = []}) => env))
    assert.deepEqual([...declared].sort(), Object.keys(variables).sort())
  })

  for (const [first, second] of [
    ['SVC_SPEECH_PRECISION', 'SVC_SPEECH_DTYPE'],
    ['SVC_SPEECH_SPEECH_LEXICON_PATH', 'SVC_SPEECH_LEXICON_PATH'],
    ['SVC_ACTIVE_FILE', 'ACTIVE_FILE'],
  ] as const)
    it(`${first} overrides ${second}`, () => {
      const {setting} = variables[first] as Variable
      const [one, other] = setting === 'speech.precision' ? ['f32', 'int8'] : ['a', 'b']
      assert.equal(resolve(setting, {[first]: one, [second]: other}).value, one)
    })
})

describe('the keys of [speech]', () => {
  it('are the names of their variables in lower case, with a few exceptions', () => {
    const ownNames = new Map([
      ['SVC_SPEECH_CUDA', 'device'],
      ['SVC_SPEECH_LLM_MIN_CONFIDENCE', 'llm_min_det_confidence'],
      ['SVC_SPEECH_CONSTRAINED_TRIE', 'logit_constrained_trie'],
      ['SVC_SPEECH_TRIE_STUCK_STEPS', 'logit_trie_stuck_steps'],
      ['SVC_DASH_HOST', 'dash_host'],
      ['SVC_DASH_PORT', 'dash_port'],
    ])
    for (const {env = [], toml} of speechTables.flatMap((table) => Object.values(table.rows))) {
      const variable = env[0] ?? ''
      const key = ownNames.get(variable) ?? variable.replace('SVC_SPEECH_', '').toLowerCase()
      if (variable === 'SVC_SPEECH_CONFIG') assert.deepEqual(toml, [])
      else assert.equal(toml?.[0], `speech.${key}`)
    }
  })

  for (const [key, min] of [
    ['chat_max_messages', 4],
    ['route_max_user_turns', 1],
  ] as const)
    it(`${key} is raised to ${min} if a file contains less`, () => {
      const {settings, warnings} = resolveSettings(speechSessionSettings, {
        env: {},
        file: {path: 'Svc.toml', data: {speech: {[key]: 0}}, warnings: []},
      })
      assert.equal(settings.find(({name}) => name === `speech.${key}`)?.value, min)
      assert.deepEqual(warnings, [])
    })

  it('accept a device as a word or as the value of its variable', () => {
    for (const [speech, device] of [
      [{device: 'cuda'}, 'cuda'],
      [{cuda: true}, 'cuda'],
      [{cuda: 1}, 'cuda'],
      [{cuda: false}, 'cpu'],
    ] as const) {
      const file = {path: 'Svc.toml', data: {speech}, warnings: []}
      assert.equal(resolveSettings(speechSettings, {env: {}, file}).values.device, device)
    }
  })
})
