import type {FoundPassage} from '../../help/index.js'
import {type Operation, operation} from '../operation.js'
import {list, number, object, text} from '../schema.js'

/** Questions about svc. */
export const helpOperations: readonly Operation[] = [
  operation<{question: string}, {passages: FoundPassage[]}>({
    name: 'ask_help',
    title: 'Search the documentation',
    summary: 'Find the passages of the documentation of svc that answer a question, with their commands.',
    effect: 'read',
    idempotent: true,
    input: object(
      {question: text('What to do or know, in plain words.', {minLength: 1, maxLength: 1000})},
      {required: ['question']},
    ),
    output: object(
      {
        passages: list(
          object(
            {
              page: text('File of the package, or command that prints the passage.'),
              headings: list(text()),
              text: text('Markdown.'),
              commands: list(text()),
              score: number(),
            },
            {required: ['page', 'headings', 'text', 'commands', 'score']},
          ),
          'The best first.',
        ),
      },
      {required: ['passages']},
    ),
    bindings: {
      rpc: {method: 'svc.ask'},
      tool: {name: 'svc_ask', tier: 'core', lane: 'platform'},
    },
    async run({question}) {
      const {openHelp} = await import('../../help/index.js')
      return {passages: await (await openHelp()).passagesFor(question)}
    },
  }),
]
