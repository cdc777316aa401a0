/** Between text and tokens: tokenizers, chat templates, and the text of a generation, token by token. */
export {type ChatMessage, ChatTemplate, chatml, declaredTemplate} from './chat-template.js'
export {OutputText} from './output-text.js'
export {createTokenizer, type EncodeOptions, type Tokenizer, TooManyTokens} from './tokenizer.js'
