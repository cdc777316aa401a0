import type {Prompt} from '../llm/index.js'
import type {Fields} from './body.js'

type Variables = NonNullable<Extract<Prompt, {kind: 'chat'}>['variables']>

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/**
 * Variables of the chat template that a request sets. Templates that can omit thinking read `enable_thinking` or
 * `thinking`; others ignore them. `chat_template_kwargs` precede the other fields.
 * @throws bad_request
 */
export function readTemplateVariables(fields: Fields, {withEffort}: {withEffort: boolean}): {variables?: Variables} {
  const effort = withEffort ? fields.string('reasoning_effort') : undefined
  if (effort !== undefined && !efforts.includes(effort))
    throw fields.wrong('reasoning_effort', `be one of ${efforts.join(', ')}`)
  const variables = {
    ...(effort === undefined ? {} : {...thinking(effort !== 'none'), reasoning_effort: effort}),
    // Only false is supported.
    ...(fields.get('think') === undefined ? {} : thinking(false)),
    ...fields.object('chat_template_kwargs')?.json(),
  }
  return Object.keys(variables).length === 0 ? {} : {variables}
}

const thinking = (isOn: boolean) => ({enable_thinking: isOn, thinking: isOn})
