/** Something in the environment or the file that was left out of account, and why. */
export interface SettingWarning {
  code: 'config_env_invalid' | 'config_key_unknown' | 'config_table_deprecated' | 'speech_config_ignored'
  message: string
  /** The environment variable or TOML key. */
  subject: string
}
