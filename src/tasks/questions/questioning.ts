import {excerpt} from '../../errors/index.js'
import type {Judgement, ResearchSuggestion} from '../gates/judge-evidence.js'
import {
  chooseQuestion,
  type QuestionCandidate,
  type QuestionKind,
  type Situation,
  type StopReason,
  stopReason,
} from './choose-question.js'

/** Whether a clarifying question would improve an answer. Without a question, its members are null or 0. */
export interface Questioning {
  question_needed: boolean
  question_kind: QuestionKind | null
  prompt: string | null
  expected_information_gain_bits: number
  /** 0 to 1. */
  expected_user_cost: number
  utility_bits_per_cost: number
  /** Why no question is asked although the evidence does not support an answer. */
  stop_reason: StopReason | null
}

/** Questions by the weakness of the evidence that they repair. Costs are between 0 and 1. */
const templates: readonly {
  trigger: ResearchSuggestion['trigger']
  kind: QuestionKind
  cost: number
  prompt: (subject: string) => string
}[] = [
  {
    trigger: 'contradiction',
    kind: 'multiple_choice',
    cost: 0.4,
    prompt: (subject) => `The sources about ${subject} contradict each other. Which one is correct?`,
  },
  {
    trigger: 'missing_citations',
    kind: 'entry',
    cost: 0.5,
    prompt: (subject) => `Name a file or document that answers ${subject}.`,
  },
  {
    trigger: 'low_confidence',
    kind: 'open_ended',
    cost: 0.6,
    prompt: (subject) => `Which details should the answer to ${subject} consider?`,
  },
]

/** Share of the gain of a question that does not repair the main weakness of the evidence. */
const otherShare = 0.5

const maxSubjectLength = 200

export const noQuestion: Questioning = {
  question_needed: false,
  question_kind: null,
  prompt: null,
  expected_information_gain_bits: 0,
  expected_user_cost: 0,
  utility_bits_per_cost: 0,
  stop_reason: null,
}

/** Decides whether to ask the user a question. */
export function questioningOf(
  judgement: Judgement,
  question: string,
  {turns, attentionMs}: Pick<Situation, 'turns' | 'attentionMs'>,
): Questioning {
  const candidates = candidatesFor(judgement, question)
  const isAnswerable = judgement.risk_decision === 'answer'
  const stop = stopReason(
    {
      confidence: judgement.confidence_estimate,
      isRiskBlocked: judgement.risk_decision === 'abstain',
      attentionMs,
      turns,
    },
    candidates,
  )
  if (isAnswerable) return noQuestion
  const chosen = stop === undefined ? chooseQuestion(candidates) : undefined
  return chosen === undefined
    ? {...noQuestion, stop_reason: stop ?? null}
    : {...chosen, question_needed: true, stop_reason: null}
}

function candidatesFor({confidence_estimate: confidence, research}: Judgement, question: string): QuestionCandidate[] {
  const subject = JSON.stringify(excerpt(question.trim(), maxSubjectLength))
  return templates.map(({trigger, kind, cost, prompt}) => ({
    question_kind: kind,
    prompt: prompt(subject),
    expected_information_gain_bits: entropyBits(confidence) * (trigger === research?.trigger ? 1 : otherShare),
    expected_user_cost: cost,
  }))
}

/** Entropy of a yes-or-no question with this probability, bits: the information in a complete answer. */
const entropyBits = (p: number): number => (p <= 0 || p >= 1 ? 0 : -p * Math.log2(p) - (1 - p) * Math.log2(1 - p))
