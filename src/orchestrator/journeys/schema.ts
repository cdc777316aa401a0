import {fragment} from '../../store/index.js'
import {canonicalJourney, canonicalJourneySteps} from './canonical.js'

const text = (value: string) => `'${value.replaceAll("'", "''")}'`
const json = (value: object) => text(JSON.stringify(value))

const {journey_id: id, version, title, description} = canonicalJourney

/** Journeys and their steps. A store that has one already, under the same id, keeps its own. */
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
)
