package client

func beClientChild() {}
