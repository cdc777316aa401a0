import {sectionSettings} from '../setting.js'
import {boolean, choice, integer, number, path, phrases, tokenIds} from '../types.js'

/** Correction of transcripts, and the words expected in them. */
export const speechRefineSettings = sectionSettings('speech', () => ({
  profile: {
    type: choice('conservative', 'balanced', 'aggressive'),
    flag: 'profile',
    env: ['SVC_SPEECH_PROFILE'],
    default: 'balanced',
    doc: 'Degree of transcript correction.',
  },
  domainMode: {
    type: choice('general', 'code'),
    flag: 'domain',
    env: ['SVC_SPEECH_DOMAIN_MODE'],
    default: 'general',
    doc: 'Domain of the recording; code spells programming terms as in source code, and prefers names of the programs in the workspace.',
  },
  lexiconPath: {
    type: path(),
    env: ['SVC_SPEECH_SPEECH_LEXICON_PATH', 'SVC_SPEECH_LEXICON_PATH'],
    toml: ['speech.speech_lexicon_path', 'speech.lexicon_path'],
    doc: 'JSON file of words to replace in a transcript; takes precedence over the repository lexicon.',
  },
  refineConservativeBase: {
    type: number(),
    env: ['SVC_SPEECH_REFINE_CONSERVATIVE_BASE'],
    default: 0.82,
    doc: 'Confidence of an unchanged transcript in the conservative profile.',
  },
  refineBalancedBase: {
    type: number(),
    env: ['SVC_SPEECH_REFINE_BALANCED_BASE'],
    default: 0.87,
    doc: 'Confidence of an unchanged transcript in the balanced profile.',
  },
  refineAggressiveBase: {
    type: number(),
    env: ['SVC_SPEECH_REFINE_AGGRESSIVE_BASE'],
    default: 0.9,
    doc: 'Confidence of an unchanged transcript in the aggressive profile.',
  },
  refinePenaltyPerTrace: {
    type: number(),
    env: ['SVC_SPEECH_REFINE_PENALTY_PER_TRACE'],
    default: 0.015,
    doc: 'Confidence subtracted for each correction.',
  },
  refinePenaltyCap: {
    type: number(),
    env: ['SVC_SPEECH_REFINE_PENALTY_CAP'],
    default: 0.25,
    doc: 'Maximum confidence subtracted for corrections.',
  },
  refineConfidenceMin: {
    type: number(),
    env: ['SVC_SPEECH_REFINE_CONFIDENCE_MIN'],
    default: 0.1,
    doc: 'Minimum confidence of a transcript.',
  },
  refineConfidenceMax: {
    type: number(),
    env: ['SVC_SPEECH_REFINE_CONFIDENCE_MAX'],
    default: 0.99,
    doc: 'Maximum confidence of a transcript.',
  },
  contextualBias: {
    type: boolean('lenient'),
    env: ['SVC_SPEECH_CONTEXTUAL_BIAS'],
    default: true,
    doc: 'Prefer hotwords and words of the lexicon among likely readings.',
  },
  sessionHotwords: {
    type: phrases(),
    flag: 'hotwords',
    placeholder: 'PHRASE,...',
    env: ['SVC_SPEECH_SESSION_HOTWORDS'],
    default: [] as readonly string[],
    doc: 'Words and phrases to prefer over alternatives that are up to 20 times as likely, or as logit_bias_strength sets.',
  },
  maxBiasPhrases: {
    type: integer({min: 1, clamp: true}),
    env: ['SVC_SPEECH_MAX_BIAS_PHRASES'],
    default: 256,
    doc: 'Maximum number of preferred phrases.',
  },
  logitBiasStrength: {
    type: number(),
    env: ['SVC_SPEECH_LOGIT_BIAS_STRENGTH'],
    default: 0.8,
    doc: 'Preference for hotwords and the lexicon in the decoder: a value added to the logits of tokens that continue such a phrase, half of it for its first token. At 0.8, readings with them replace readings that are up to 20 times as likely. 0 turns it off.',
  },
  logitBiasMaxTokens: {
    type: integer({min: 1, clamp: true}),
    env: ['SVC_SPEECH_LOGIT_BIAS_MAX_TOKENS'],
    default: 256,
    doc: 'Maximum number of different tokens with a logit bias.',
  },
  suppressTokens: {
    type: tokenIds({min: -1}),
    flag: 'suppress-tokens',
    placeholder: 'IDS',
    env: ['SVC_SPEECH_SUPPRESS_TOKENS'],
    default: [-1] as readonly number[],
    doc: 'Ids of tokens that are never decoded, separated by commas; -1 is the list of the model, and "" is an empty list.',
  },
  logitForbidTokens: {
    type: tokenIds(),
    env: ['SVC_SPEECH_LOGIT_FORBID_TOKENS'],
    default: [] as readonly number[],
    doc: 'Ids of more tokens that are never decoded, in addition to suppress_tokens.',
  },
  constrainedPhrases: {
    type: phrases(),
    env: ['SVC_SPEECH_CONSTRAINED_PHRASES'],
    default: [] as readonly string[],
    doc: 'The only phrases that can be recognised if constrained_trie is on.',
  },
  constrainedTrie: {
    type: boolean('lenient'),
    env: ['SVC_SPEECH_CONSTRAINED_TRIE'],
    toml: ['speech.logit_constrained_trie'],
    default: false,
    doc: 'Restrict the decoder to the constrained phrases.',
  },
  trieStuckSteps: {
    type: integer({min: 1, clamp: true}),
    env: ['SVC_SPEECH_TRIE_STUCK_STEPS'],
    toml: ['speech.logit_trie_stuck_steps'],
    default: 2,
    doc: 'Number of consecutive tokens that match no constrained phrase after which a window may contain any text.',
  },
}))
