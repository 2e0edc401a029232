// The sentences in another language. The server answers with its own; this one stands for English.

export const language = "en";
export const words = {};
