import {conflict, failed, notFound, rows, unavailable, usage} from '../row.js'

export const hubErrors = rows(() => ({
  model_id_invalid: usage({
    message: (p: {id: string}) => `${p.id} is neither a directory nor the id of a model.`,
    hint: 'Give the path of a model, or an id such as openai/whisper-tiny.en.',
  }),
  hub_model_unknown: notFound({
    message: (p: {id: string; endpoint: string}) => `${p.endpoint} has no model ${p.id}.`,
    hint: 'Check the spelling of the id, owner/name; a private model needs a token in HF_TOKEN.',
  }),
  hub_revision_unknown: notFound({
    message: (p: {id: string; revision: string}) => `The model ${p.id} has no revision ${p.revision}.`,
    hint: 'Give a branch, a tag or a commit of the model, or leave --revision out.',
  }),
  hub_files_missing: notFound({
    message: (p: {id: string}) => `The model ${p.id} has no weights that this version runs.`,
    hint: 'Choose a model with safetensors or with ONNX files.',
  }),
  hub_access_denied: conflict({
    http: 403,
    message: (p: {id: string; status: number; tokenSent: boolean}) =>
      `The hub denies access to ${p.id} (${p.status}); ${p.tokenSent ? 'the token was not enough' : 'no token was sent'}.`,
    hint: 'Check the spelling of the id, accept the conditions of the model on its page, and set HF_TOKEN to a token that may read it.',
  }),
  hub_unreachable: unavailable({
    message: (p: {endpoint: string; reason: string}) => `The hub at ${p.endpoint} cannot be reached: ${p.reason}.`,
    hint: 'Try again later; what has been downloaded is kept, and the download goes on from there.',
  }),
  hub_failed: unavailable({
    http: 502,
    message: (p: {endpoint: string; status: number}) => `The hub at ${p.endpoint} answers with status ${p.status}.`,
    hint: 'Try again later; what has been downloaded is kept, and the download goes on from there.',
  }),
  hub_answer_invalid: failed({
    http: 502,
    message: (p: {endpoint: string; reason: string}) =>
      `The hub at ${p.endpoint} gives an answer that makes no sense: ${p.reason}.`,
    hint: 'Check HF_ENDPOINT, which must be the address of a Hugging Face hub.',
  }),
  hub_offline: unavailable({
    message: (p: {id: string}) => `The model ${p.id} is not in the local cache, and downloads are switched off.`,
    hint: 'Run without --offline, SVC_SPEECH_OFFLINE and HF_HUB_OFFLINE to download it.',
  }),
  checksum_mismatch: failed({
    http: 502,
    message: (p: {file: string; expected: string; actual: string}) =>
      `${p.file} was not downloaded as it should be: its checksum is ${p.actual}, not ${p.expected}.`,
    hint: 'Try again; if it happens again, a proxy on the way changes files.',
  }),
}))
