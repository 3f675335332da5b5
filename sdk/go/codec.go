package cairn

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Codec turns payloads, inputs and results into JSON and back. A codec that encrypts wraps the
// whole text in a JSON string or object. A payload that cannot be decoded ends its task for good; a
// codec that may succeed later returns Retry.
type Codec interface {
	Encode(v any) ([]byte, error) // JSON
	Decode(data []byte, v any) error
}

// jsonCodec is encoding/json; a number that is decoded into an any is a json.Number, whose digits are
// those that were sent.
type jsonCodec struct{}

func (jsonCodec) Encode(v any) ([]byte, error) { return encodeJSON(v) }

func (jsonCodec) Decode(data []byte, v any) error { return decodeJSON(data, v) }

// decodeJSON is json.Unmarshal, but for numbers that are decoded into an any.
func decodeJSON(data []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(v); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return errors.New("unexpected end of JSON input")
		}
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is text behind the JSON value")
	}
	return nil
}

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
	var asked *outcomeError
	if errors.As(err, &known) || errors.As(err, &asked) {
		return err
	}
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return newError(ErrBadPayload, "BadPayload: %s", mismatchText(mismatch))
	}
	return newError(ErrBadPayload, "BadPayload: %v", err)
}

// jsonWords are the kinds of JSON values as people call them, and as the other SDKs do.
var jsonWords = map[string]string{"string": "text", "bool": "true or false", "number": "a number", "array": "a list", "object": "an object"}

// mismatchText says where a value does not fit: "id: expected int, got text".
func mismatchText(m *json.UnmarshalTypeError) string {
	got, isKnown := jsonWords[m.Value]
	if !isKnown {
		got = m.Value // such as "number 1.5"
	}
	text := "expected " + m.Type.String() + ", got " + got
	if m.Field == "" {
		return text
	}
	return m.Field + ": " + text
}

// deadPayload is for what a call was given and cannot be read: no later call would be given anything else.
func deadPayload(err error) error {
	if errors.Is(err, ErrBadPayload) {
		return Dead(err)
	}
	return err
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
