import {wordsOf} from './clauses.js'
import type {DraftStep} from './step.js'

/** A problem with one step. */
export type QualityFinding =
  | 'vague_short'
  | 'risk_destructive'
  | 'vague_phrase'
  | 'tbd_placeholder'
  | 'manifest_empty_path'

/** What is wrong with a step: completes the sentence "step 2 …". */
export const findingTexts: Readonly<Record<QualityFinding, string>> = {
  vague_short: 'is too short',
  risk_destructive: 'destroys data without a precaution',
  vague_phrase: 'names no action',
  tbd_placeholder: 'contains a placeholder',
  manifest_empty_path: 'has a file with an empty path',
}

const destroys =
  /\brm\s+-[a-z]*[rf]|\bdrop\s+(?:table|database|schema)\b|\btruncate\b|\bwipe\b|\bformat\s+the\s+(?:disk|drive)\b|\bmkfs|\bforce[ -]push\b|\bgit\s+reset\s+--hard\b|\bdelete\s+(?:all|everything)\b|\bpurge\b/i
const takesCare = /\b(?:backups?|back\s+up|snapshots?|confirm\w*|dry[- ]?run|roll(?:s|ed)?[- ]?back\w*)\b/i

const placeholder = /\b(?:tbd|todo|fixme|xxx|placeholder|lorem ipsum)\b|\?\?\?/i

/** Number of initial words in which a step should contain an action verb. */
const verbReach = 6

/** Action verbs. */
const verbs = new Set(
  (
    'adapt add adjust align allow analyse analyze annotate answer apply archive ask assemble assert assess attach audit ' +
    'avoid back benchmark bring build bump cache call capture change check choose clean clear close collect combine ' +
    'commit compare compile complete compute configure connect consolidate convert copy correct cover create cut debug ' +
    'declare decide decouple define delete deliver deploy deprecate derive describe design detect determine disable ' +
    'document download drop edit eliminate embed emit enable encode enforce ensure establish estimate evaluate examine ' +
    'execute explain expose extend extract fetch fill filter find finish fix format gather generate give group guard ' +
    'handle harden hide identify implement import improve include increase index initialise initialize inline insert ' +
    'inspect install integrate introduce investigate isolate join keep label launch let lift limit link list load localise ' +
    'localize log look lower maintain make map mark measure merge migrate mock model modify monitor mount move name ' +
    'normalise normalize open optimise optimize order organise organize outline override package parse patch persist ' +
    'pick pin plan polish port prepare present print produce profile propagate propose protect provide publish pull push ' +
    'put quote raise read rebase rebuild record recover reduce refactor refine refresh register reject release reload ' +
    'remove rename render reorder replace replicate report reproduce request require reset resize resolve restart restore ' +
    'restructure retry return reuse revert review rewrite rotate route run save scan schedule search select send separate ' +
    'serve set ship show shrink simplify skip sort specify split stabilise stabilize start state stop store stream ' +
    'strengthen strip submit summarise summarize support swap switch sync tag take tell test tidy tighten trace track ' +
    'train transform translate trim tune turn unify update upgrade upload use validate verify version walk warn watch ' +
    'widen wire wrap write'
  ).split(' '),
)

/** `adds`, `adding` and `added` count as `add`. */
function isVerb(word: string): boolean {
  const plain = word.toLowerCase().replaceAll(/[^\p{L}]/gu, '')
  const stem = plain.replace(/(?:ing|ed|es|s|d)$/, '')
  return verbs.has(plain) || verbs.has(stem) || verbs.has(`${stem}e`)
}

/** `Force-push` is two words. */
const firstWords = (text: string): string[] =>
  wordsOf(text)
    .slice(0, verbReach)
    .flatMap((word) => word.split('-'))

type Subject = Pick<DraftStep, 'description' | 'files' | 'workflow'>

/** The checks of one step, in the order in which findings are reported. */
const tests: readonly (readonly [QualityFinding, (step: Subject) => boolean])[] = [
  ['vague_short', ({description}) => description.trim().length < 12 || wordsOf(description).length < 3],
  ['risk_destructive', ({description}) => destroys.test(description) && !takesCare.test(description)],
  ['vague_phrase', ({description}) => !firstWords(description).some(isVerb)],
  ['tbd_placeholder', ({description}) => placeholder.test(description)],
  ['manifest_empty_path', ({files}) => files.some(({path}) => path.trim() === '')],
]

/**
 * Problems with a step: too little detail, no action, or destructive without precautions. The verification step is not
 * checked because it only repeats other steps.
 */
export const qualityOf = (step: Subject): QualityFinding[] =>
  step.workflow === undefined ? tests.filter(([, isFound]) => isFound(step)).map(([finding]) => finding) : []
