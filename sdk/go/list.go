package cairn

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
)

// pageSize is how many rows one request of a list asks for.
const pageSize = 100

type page[T any] struct {
	Items []*T    `json:"items"`
	Next  *string `json:"next"`
}

func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// setQuery adds name=value unless the value is empty.
func setQuery(query url.Values, name, value string) {
	if value != "" {
		query.Set(name, value)
	}
}

func setTags(query url.Values, tags map[string]string) {
	for name, value := range tags {
		query.Add("tag", name+":"+value)
	}
}

// list yields the rows of a list, page by page as they are consumed. limit 0: all.
func list[T any](ctx context.Context, e *Engine, path string, query url.Values, limit int) func(yield func(*T, error) bool) {
	return func(yield func(*T, error) bool) {
		asked := url.Values{}
		for name, values := range query {
			asked[name] = values
		}
		for seen := 0; ; {
			size := pageSize
			if limit > 0 && limit-seen < size {
				size = limit - seen
			}
			asked.Set("limit", strconv.Itoa(size))
			var got page[T]
			if err := e.get(ctx, withQuery(path, asked), &got); err != nil {
				yield(nil, err)
				return
			}
			for _, row := range got.Items {
				if !yield(row, nil) {
					return
				}
				seen++
			}
			if got.Next == nil || limit > 0 && seen >= limit {
				return
			}
			asked.Set("cursor", *got.Next)
		}
	}
}

func segment(text string) string { return url.PathEscape(text) }

// isNull reports whether a JSON text is missing or null.
func isNull(text json.RawMessage) bool { return len(text) == 0 || string(text) == "null" }
