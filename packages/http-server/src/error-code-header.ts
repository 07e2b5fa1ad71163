/** Carries the error code of a response that is not a success; read by the commands, which must not load the server. */
export const ERROR_CODE_HEADER = 'Error-Code';
