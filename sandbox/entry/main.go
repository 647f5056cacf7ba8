// Command entry is the first process of a container whose work is given to it later.
//
// It waits for an order in a folder, starts one command, hands it a text, keeps what it prints and tells how it
// ended. It needs nothing of the image that it runs in: no shell, no library.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	orderFile   = "order.json"
	checkFile   = "check.json"
	checkedFile = "checked.json"
	endFile     = "end.json"
	pause       = 20 * time.Millisecond
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: entry FOLDER")
		os.Exit(2)
	}
	folder := os.Args[1]
	order, err := await(folder)
	if err != nil {
		fmt.Fprintln(os.Stderr, "entry:", err)
		os.Exit(2)
	}
	end := run(order, folder)
	if err := write(folder, endFile, end); err != nil {
		fmt.Fprintln(os.Stderr, "entry:", err)
		os.Exit(2)
	}
	os.Exit(end.status())
}

// await answers checks until there is an order. Both appear whole, by a rename.
func await(folder string) (*Order, error) {
	checked := false
	for {
		order := &Order{}
		found, err := read(filepath.Join(folder, orderFile), order)
		if found || err != nil {
			return order, err
		}
		check := Check{}
		if found, err = read(filepath.Join(folder, checkFile), &check); err != nil {
			return nil, err
		}
		if found && !checked {
			_, code := find(check.Program)
			if err := write(folder, checkedFile, Checked{Error: code}); err != nil {
				return nil, err
			}
			checked = true
		}
		time.Sleep(pause)
	}
}

func read(path string, into any) (bool, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, json.Unmarshal(content, into)
}

// write puts a file in its place whole: who finds it may read it.
func write(folder, name string, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	partial := filepath.Join(folder, "."+name)
	if err := os.WriteFile(partial, content, 0o644); err != nil {
		return err
	}
	return os.Rename(partial, filepath.Join(folder, name))
}
