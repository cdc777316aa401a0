import type {ContextEnvelopeV1} from '../../../src/contracts/index.js'
import {startMs} from '../../orchestrator/support/open-test-orchestrator.js'

/** A context envelope with the required members, and others. */
export const envelope = (members: Readonly<Record<string, unknown>> = {}): ContextEnvelopeV1 =>
  ({
    schema_version: 1,
    envelope_id: 'env-1',
    envelope_type: 'retrieval_evidence',
    created_at_unix_ms: startMs,
    provenance: {source_plane: 'search', source_system: 'index', capture_mode: 'retrieved'},
    trust: {trust_tier: 'advisory', authority_rank: 1, freshness_tier: 'recent'},
    subject: {repository_id: 'r1'},
    content: {summary_text: 'The client retries twice.'},
    conflict_policy: {merge_strategy: 'append_only'},
    budget: {priority: 'normal', injection_mode: 'inline'},
    ...members,
  }) as ContextEnvelopeV1
