import type {Contract} from '../contracts/index.js'
import {formatTable, type TableView, wide, wrapped} from './table.js'

export const formatContracts = (
  contracts: readonly Pick<Contract, 'id' | 'aliases' | 'summary'>[],
  view: TableView,
): string =>
  formatTable(
    ['CONTRACT', wide(wrapped('ALSO')), wrapped('SUMMARY')],
    contracts.map(({id, aliases, summary}) => [id, aliases.join(', '), summary]),
    view,
  )
