package cairn

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Codec turns payloads, inputs and results into JSON and back. A codec that encrypts wraps the
// whole text in a JSON string or object.
type Codec interface {
	Encode(v any) ([]byte, error) // JSON
	Decode(data []byte, v any) error
}

// jsonCodec is encoding/json.
type jsonCodec struct{}

func (jsonCodec) Encode(v any) ([]byte, error) { return encodeJSON(v) }

func (jsonCodec) Decode(data []byte, v any) error { return json.Unmarshal(data, v) }

// encodeJSON keeps <, > and & as they are, so that rows can be read.
func encodeJSON(v any) ([]byte, error) {
	if raw, ok := v.(json.RawMessage); ok && len(raw) > 0 {
		return raw, nil
	}
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, badPayload(err)
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}

func badPayload(err error) error {
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	return newError(ErrBadPayload, "BadPayload: %v", err)
}

// encode is for what a user gives as a payload or input: nil is {}.
func (e *Engine) encode(v any) (json.RawMessage, error) {
	return encodePayload(e.config.Codec, v)
}

func encodePayload(codec Codec, v any) (json.RawMessage, error) {
	if v == nil {
		return json.RawMessage("{}"), nil
	}
	if raw, ok := v.(json.RawMessage); ok {
		if !json.Valid(raw) {
			return nil, newError(ErrBadPayload, "BadPayload: a json.RawMessage is not JSON")
		}
		return raw, nil
	}
	text, err := codec.Encode(v)
	if err != nil {
		return nil, badPayload(err)
	}
	return text, nil
}

// encodeResult is for what a handler or step returns: nil is null.
func encodeResult(codec Codec, v any) (json.RawMessage, error) {
	if v == nil {
		return json.RawMessage("null"), nil
	}
	return encodePayload(codec, v)
}

// decodePayload reads a JSON text into v, a pointer; a *json.RawMessage gets the text itself.
func decodePayload(codec Codec, text []byte, v any) error {
	if raw, ok := v.(*json.RawMessage); ok {
		*raw = text
		return nil
	}
	if len(text) == 0 {
		text = []byte("null")
	}
	if err := codec.Decode(text, v); err != nil {
		return badPayload(err)
	}
	return nil
}
