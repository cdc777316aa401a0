import type {Tool} from '../mcp/index.js'
import {formatTable, type TableView, wide, wrapped} from './table.js'

export function formatTools(tools: readonly Tool[], view: TableView): string {
  const effectOf = ({listed: {annotations}}: Tool) => {
    if (annotations.readOnlyHint) return 'read'
    return annotations.destructiveHint ? 'destructive' : 'write'
  }
  const rows = tools.map((tool) => [tool.name, tool.tier, tool.lane, effectOf(tool), tool.listed.description])
  return formatTable(['TOOL', wide('TIER'), wide('LANE'), 'EFFECT', wrapped('DESCRIPTION')], rows, view)
}
