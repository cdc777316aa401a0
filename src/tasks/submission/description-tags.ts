/** Tags in a task description: `[[tool:grep]]`, `[[research:sqlite]]`, `[PHASE:REPAIR]`. */
export interface DescriptionTags {
  tools: readonly string[]
  research: readonly string[]
  category: string | undefined
  campaign: string | undefined
  tier: string | undefined
  /** In lower case; default: `single_shot`. */
  phase: string
}

const tags = {
  tool: /\[\[tool:([^\]]{1,256})\]\]/g,
  research: /\[\[research:([^\]]{1,256})\]\]/g,
  category: /\[\[category:([^\]]{1,256})\]\]/g,
  campaign: /\[campaign:([^\]]{1,256})\]/gi,
  tier: /\[tier:([^\]]{1,256})\]/gi,
  phase: /\[PHASE:([^\]]{1,256})\]/gi,
}

const none: DescriptionTags = {
  tools: [],
  research: [],
  category: undefined,
  campaign: undefined,
  tier: undefined,
  phase: 'single_shot',
}

export function readTags(description: string): DescriptionTags {
  // Few descriptions have tags; this avoids six searches through a long one.
  if (!description.includes('[')) return none
  const all = (tag: RegExp) => [
    ...new Set([...description.matchAll(tag)].map(([, word = '']) => word.trim()).filter(Boolean)),
  ]
  const [category] = all(tags.category)
  const [campaign] = all(tags.campaign)
  const [tier] = all(tags.tier)
  const [phase] = all(tags.phase)
  return {
    tools: all(tags.tool),
    research: all(tags.research),
    category,
    campaign,
    tier,
    phase: phase?.toLowerCase() ?? none.phase,
  }
}
