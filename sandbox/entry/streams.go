package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"unsafe"
)

// streams are a command's three streams: pipes, or one terminal.
type streams struct {
	theirs        [3]*os.File
	stdin         *os.File
	stdout        *os.File
	stderr        *os.File
	isOneTerminal bool
}

func open(tty bool) (*streams, error) {
	if tty {
		return openTerminal()
	}
	var made streams
	var err error
	if made.theirs[0], made.stdin, err = os.Pipe(); err != nil {
		return nil, err
	}
	if made.stdout, made.theirs[1], err = os.Pipe(); err != nil {
		return nil, err
	}
	made.stderr, made.theirs[2], err = os.Pipe()
	return &made, err
}

func openTerminal() (*streams, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	unlocked, number := int32(0), uint32(0)
	if err := control(master, syscall.TIOCSPTLCK, unsafe.Pointer(&unlocked)); err != nil {
		return nil, err
	}
	if err := control(master, syscall.TIOCGPTN, unsafe.Pointer(&number)); err != nil {
		return nil, err
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	var modes syscall.Termios
	if err := control(slave, syscall.TCGETS, unsafe.Pointer(&modes)); err != nil {
		return nil, err
	}
	// What is typed would come back as if the command had said it.
	modes.Lflag &^= syscall.ECHO
	if err := control(slave, syscall.TCSETS, unsafe.Pointer(&modes)); err != nil {
		return nil, err
	}
	return &streams{
		theirs: [3]*os.File{slave, slave, slave}, stdin: master, stdout: master, isOneTerminal: true,
	}, nil
}

func control(file *os.File, request uintptr, argument unsafe.Pointer) error {
	if _, _, code := syscall.Syscall(syscall.SYS_IOCTL, file.Fd(), request, uintptr(argument)); code != 0 {
		return code
	}
	return nil
}

func (s *streams) files() []uintptr {
	return []uintptr{s.theirs[0].Fd(), s.theirs[1].Fd(), s.theirs[2].Fd()}
}

func (s *streams) closeTheirs() {
	for index, file := range s.theirs {
		if index == 0 || !s.isOneTerminal {
			file.Close()
		}
	}
}

// endInput ends the input as a pipe does, or as a person does who has typed something.
func (s *streams) endInput(order *Order) {
	if !s.isOneTerminal {
		s.stdin.Close()
	} else if order.By == "Stdin" {
		_, _ = io.WriteString(s.stdin, "\x04")
	}
}

// copy types the text where that is asked for, and keeps what comes; the channel is closed when both streams ended.
func (s *streams) copy(order *Order, out, errs io.Writer) <-chan struct{} {
	go func() {
		if order.By == "Stdin" {
			_, _ = io.WriteString(s.stdin, order.Prompt)
			if s.isOneTerminal || order.Asks != "" {
				_, _ = io.WriteString(s.stdin, "\n")
			}
		}
		// Of one that asks the input goes on: its end would be an answer.
		if order.Asks == "" {
			s.endInput(order)
		}
	}()
	var readers sync.WaitGroup
	readers.Go(func() { _, _ = io.Copy(out, s.stdout) })
	if s.stderr != nil {
		readers.Go(func() { _, _ = io.Copy(errs, s.stderr) })
	}
	copied := make(chan struct{})
	go func() {
		readers.Wait()
		close(copied)
	}()
	return copied
}
