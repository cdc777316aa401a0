/** Tokenizers, chat templates, and incremental detokenization with stop strings. */
export {type ChatMessage, ChatTemplate, chatml, declaredTemplate} from './chat-template.js'
export {OutputText} from './output-text.js'
export {createTokenizer, type EncodeOptions, type Tokenizer, TooManyTokens} from './tokenizer.js'
