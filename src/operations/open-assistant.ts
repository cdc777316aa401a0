import type {Assistant, Work} from '../assistant/index.js'
import type {OperationContext} from './context.js'

/** An assistant whose model choices and costs are decided and recorded by the orchestrator. */
export async function openAssistantFor(context: OperationContext): Promise<Assistant> {
  const {modules, orchestrator, sources} = context
  const {openAssistant} = await import('../assistant/index.js')
  const {chooseModel, costOf} = await import('../inference-client/index.js')
  const {modelPrices, costPreference} = orchestrator.config
  return openAssistant(orchestrator, sources, {
    chooseModel(registry, {economy, ...work}: Work) {
      const choice = chooseModel(registry, {}, modelPrices, economy ? 'economy' : costPreference)
      modules.tasks.recordRoutingDecision(orchestrator, {...work, choice})
      return choice.model
    },
    costOf: (model, tokens) => costOf(model, tokens, modelPrices),
    onCost: (usage) => modules.tasks.emitCost(orchestrator, usage),
  })
}
