/** Something in the environment or a file that is ignored, and why. */
export interface SettingWarning {
  code:
    | 'config_env_invalid'
    | 'config_key_unknown'
    | 'config_table_deprecated'
    | 'env_file_exposed'
    | 'env_file_line_ignored'
    | 'env_file_unreadable'
    | 'env_file_variable_ignored'
    | 'speech_config_ignored'
  message: string
  /** The environment variable, the TOML key or the file. */
  subject: string
}
