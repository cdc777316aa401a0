import {fragment} from '../store/index.js'
import {canonicalJourney, canonicalJourneySteps} from './canonical.js'

const text = (value: string) => `'${value.replaceAll("'", "''")}'`
const json = (value: object) => text(JSON.stringify(value))

const {journey_id: id, version, title, description} = canonicalJourney

/** The original limitations of some steps. */
const firstLimitations: Readonly<Record<string, readonly string[]>> = {
  bootstrap_repo: ['L-029'],
  open_workspace_store: ['L-021'],
  structured_plan: ['L-010'],
  agentic_assist: ['L-015', 'L-022'],
}

const updates = canonicalJourneySteps.flatMap((step) => {
  const limitation_ids = firstLimitations[step.step_id]
  if (limitation_ids === undefined) return []
  const old = json({...step, limitation_ids})
  return [
    `UPDATE developer_journey_steps SET step_json = ${json(step)} WHERE journey_id = ${text(id)} AND step_json = ${old};`,
  ]
})

/** Journeys and their steps. A store that already has a journey of the same id keeps its own. */
export const journeyFragment = fragment(
  'developer_journeys',
  `
CREATE TABLE developer_journey_definitions (
  journey_id TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  title TEXT NOT NULL,
  description TEXT,
  definition_json TEXT NOT NULL,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT, WITHOUT ROWID;

CREATE TABLE developer_journey_steps (
  journey_id TEXT NOT NULL REFERENCES developer_journey_definitions (journey_id),
  ordinal INTEGER NOT NULL,
  step_id TEXT NOT NULL,
  step_json TEXT NOT NULL,
  PRIMARY KEY (journey_id, ordinal)
) STRICT, WITHOUT ROWID;

INSERT OR IGNORE INTO developer_journey_definitions (journey_id, version, title, description, definition_json)
VALUES (${text(id)}, ${version}, ${text(title)}, ${description === undefined ? 'NULL' : text(description)}, ${json(canonicalJourney)});
INSERT OR IGNORE INTO developer_journey_steps (journey_id, ordinal, step_id, step_json) VALUES
${canonicalJourneySteps.map((step) => `  (${text(id)}, ${step.ordinal}, ${text(step.step_id)}, ${json(step)})`).join(',\n')};
`,
  updates.join('\n'),
)
