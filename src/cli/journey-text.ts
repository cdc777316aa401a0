import type {JourneyStep} from '../journeys/index.js'
import {formatTable, type TableView, wrapped} from './table.js'

export const formatJourney = ({steps}: {readonly steps: readonly JourneyStep[]}, view: TableView): string =>
  formatTable(
    ['STEP', wrapped('WHAT'), 'WHO', wrapped('WITH'), 'MATURITY', wrapped('LIMITS')],
    steps.map(({ordinal, step_id, actor, primary_operation_id = '', maturity, limitation_ids = []}) => [
      String(ordinal),
      step_id,
      actor,
      primary_operation_id,
      maturity,
      limitation_ids.join(', '),
    ]),
    view,
  )
